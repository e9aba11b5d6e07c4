// Completes the address field with addresses of the graph. Without them, it is a field like any other.

const PAUSE = 150; // milliseconds after the last key
const LEAST = 2; // letters

const field = document.getElementById("uri");
const list = document.getElementById("addresses");
let timer = null;
let request = null;

async function complete() {
  const address = new URL("complete", field.form.action);
  address.search = new URLSearchParams({ begins: field.value.trim() });
  request = new AbortController();
  try {
    const response = await fetch(address, { signal: request.signal });
    if (response.status !== 200) return; // 204: the tables are being made
    const { addresses } = await response.json();
    list.replaceChildren(
      ...addresses.map((text) => Object.assign(document.createElement("option"), { value: text })),
    );
  } catch {
    // A newer request, or no service: the field stays as it is.
  }
}

field?.addEventListener("input", () => {
  clearTimeout(timer);
  request?.abort();
  const typed = field.value.trim();
  const isChosen = [...list.children].some((option) => option.value === typed);
  if (!isChosen && typed.length >= LEAST && !/\s/.test(typed)) timer = setTimeout(complete, PAUSE);
});
