// Replays the page in a frame, in place of its text, and keeps address and panel in step with it.
// The frame has another origin; it says which page it shows, and nothing else of it is believed.
import { fetchPage } from "./fetch_page.js";

const START_SECONDS = 20;
const replayed = document.getElementById("replayed");
const { origin, collection, time, root } = replayed.dataset;
let current = replayed.dataset.uri;
let frame = null;

function say(text) {
  replayed.querySelector(".replay-note").textContent = text;
}

function fallBack() {
  frame?.remove();
  frame = null;
  replayed.classList.remove("is-replayed");
  say("Your browser cannot replay pages here: that needs HTTPS or this machine, and service workers. This is the text of the page.");
}

function prepare() {
  if (!origin) return;
  if (!isSecureContext || !("serviceWorker" in navigator)) {
    fallBack();
    return;
  }
  frame = document.createElement("iframe");
  frame.title = "The page then";
  // No allow-top-navigation and no allow-popups: an archived page stays where it is.
  frame.setAttribute("sandbox", "allow-scripts allow-same-origin allow-forms");
  frame.referrerPolicy = "no-referrer";
  frame.src = `${origin}/replay/#${collection}/${time}/${current}`;
  replayed.classList.add("is-replayed");
  say("Loading the page …");
  replayed.append(frame);
  const late = setTimeout(fallBack, 1000 * START_SECONDS);
  addEventListener("message", (event) => {
    if (!frame || event.origin !== origin || event.source !== frame.contentWindow) return;
    const { about, what, uri } = event.data ?? {};
    if (about !== "replay") return;
    clearTimeout(late);
    if (what === "failed") fallBack();
    if (what === "page" && typeof uri === "string" && /^https?:\/\//i.test(uri) && uri.length < 65536) follow(uri);
  });
}

// The frame shows another page: its address, the axis of time and the panel follow. The frame has
// made the entry in the browser's history already.
async function follow(uri) {
  say("");
  if (uri === current) return;
  current = uri;
  const address = `${location.origin}${root}browse/${time}/${uri}`;
  try {
    const fetched = await fetchPage(address);
    if (!fetched) return;
    const { page } = fetched;
    history.replaceState(null, "", address);
    if (!page.getElementById("panel")) throw new Error(page.title);
    document.title = page.title;
    for (const id of ["about", "moment", "panel"]) document.getElementById(id).replaceWith(page.getElementById(id));
    document.getElementById("uri").value = page.getElementById("uri").value;
  } catch (error) {
    say(`What is known about this page cannot be read: ${error.message}`);
  }
}

prepare();
