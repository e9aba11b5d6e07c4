// Pictures as PNG: the file of SVG that the service sends, drawn in twice its size. Without a script, the button is hidden.
async function save(button) {
  const svg = await fetch(button.dataset.png);
  if (!svg.ok) return location.assign(button.dataset.png);
  const picture = await svg.blob();
  const address = URL.createObjectURL(picture);
  const image = new Image();
  image.src = address;
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [2 * image.naturalWidth, 2 * image.naturalHeight];
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(address);
  const link = document.createElement("a");
  const png = await new Promise((done) => canvas.toBlob(done, "image/png"));
  const [, words] = (await picture.text()).match(/<desc>([^<]*)</) ?? ["", ""]; // pages parse no texts: Trusted Types
  link.href = URL.createObjectURL(described(png, words.replace(/&(\w+|#x27);/g, (_, name) => ESCAPED[name])));
  link.download = button.dataset.name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

const ESCAPED = { amp: "&", lt: "<", gt: ">", quot: '"', "#x27": "'" };

// The words about a picture go into its file, as an uncompressed chunk iTXt after the first chunk (PNG, 11.3.3.4).
function described(png, words) {
  const text = new TextEncoder().encode(`iTXtDescription\0\0\0\0\0${words}`);
  const chunk = new DataView(new ArrayBuffer(text.length + 8));
  new Uint8Array(chunk.buffer).set(text, 4);
  let sum = -1; // CRC-32
  for (const byte of text) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit += 1) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  }
  chunk.setUint32(0, text.length - 4);
  chunk.setInt32(text.length + 4, ~sum);
  return new Blob([png.slice(0, 33), chunk, png.slice(33)], { type: "image/png" });
}

const show = () => { for (const item of document.querySelectorAll(".save [hidden]")) item.hidden = false; };
document.addEventListener("click", (event) => {
  const button = event.target instanceof Element ? event.target.closest("[data-png]") : null;
  if (button) save(button);
});
document.addEventListener("toggle", show, true); // also of parts that came later
