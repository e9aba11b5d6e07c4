// Pictures as PNG: the file of SVG that the service sends, drawn in twice its size. Without a script, the button is hidden.
async function save(button) {
  const svg = await fetch(button.dataset.png);
  if (!svg.ok) return location.assign(button.dataset.png);
  const address = URL.createObjectURL(await svg.blob());
  const image = new Image();
  image.src = address;
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [2 * image.naturalWidth, 2 * image.naturalHeight];
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(address);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await new Promise((done) => canvas.toBlob(done, "image/png")));
  link.download = button.dataset.name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

const show = () => { for (const item of document.querySelectorAll(".save [hidden]")) item.hidden = false; };
document.addEventListener("click", (event) => {
  const button = event.target instanceof Element ? event.target.closest("[data-png]") : null;
  if (button) save(button);
});
document.addEventListener("toggle", show, true); // also of parts that came later
