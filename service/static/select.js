// Counts the selection while a user types. The server reads the form and makes the address of its
// selection; this script only asks it again, and keeps the address line in step.
import "./complete.js";
import { endRequest, fetchPage } from "./fetch_page.js";
import "./save.js";

const PAUSE = 300; // milliseconds without a key before the server is asked
let timer = 0;
let entered = null; // the field whose changes replace the newest history entry

const form = () => document.getElementById("selection");

function prepare() {
  for (const field of form().elements) {
    if (!field.name) continue;
    const mistake = document.getElementById(`mistake-${field.name}`);
    field.toggleAttribute("aria-invalid", false);
    field.removeAttribute("aria-describedby");
    if (!mistake) continue;
    field.setAttribute("aria-invalid", "true");
    field.setAttribute("aria-describedby", mistake.id);
  }
}

function addressOfForm() {
  const address = new URL(form().action);
  const filled = [...new FormData(form())].filter(([name, value]) => value.trim() && name !== "place");
  if (filled.some(([name]) => name === "where")) filled.unshift(["place", form().elements.place.value]);
  address.search = new URLSearchParams(filled);
  return address;
}

// Shows the page at an address: with its form, or only its answer while the form is in use.
async function show(address, field) {
  try {
    const fetched = await fetchPage(address);
    if (!fetched) return;
    const { ok, url, page } = fetched;
    if (!ok || !page.getElementById("selection")) return location.assign(address);
    if (field) {
      if (field !== entered) history.pushState(null, "", location.href); // one history entry per field
      entered = field;
      history.replaceState(null, "", url);
    } else form().replaceWith(page.getElementById("selection"));
    document.title = page.title;
    for (const id of ["count", "details"]) document.getElementById(id).replaceChildren(...page.getElementById(id).childNodes);
    prepare();
  } catch (error) {
    document.getElementById("count").textContent = `The service cannot be reached: ${error.message}`;
  }
}

document.addEventListener("input", (event) => {
  if (!form().contains(event.target)) return;
  clearTimeout(timer);
  endRequest();
  timer = setTimeout(() => show(addressOfForm(), event.target), PAUSE);
});
addEventListener("popstate", () => {
  clearTimeout(timer);
  entered = null;
  show(new URL(location.href), null);
});
prepare();
