// Additions to pages that are complete without a script: a slider through time, its animation, and
// highlighted lines of the graph. Each position of the slider is an address (`at`), so that the back
// button works and the address of a view can be shared.
import "./arrive.js";
import "./complete.js";
import { fetchPage } from "./fetch_page.js";
import "./save.js";

const PAUSE = 900; // milliseconds between two steps when time plays
let timer = 0;
let isPlaying = false;
let isMoving = false;
let shown = location.search; // of the address whose content is there

const bar = () => document.getElementById("moment");
const slider = () => bar()?.querySelector(".slider");
const units = () => (bar()?.dataset.units ?? "").split(" ").filter(Boolean);

function prepare() {
  const range = slider();
  if (!range || units().length < 2) return;
  range.hidden = false;
  // The thumb is 1rem wide.
  const [begin, end] = bar().dataset.ends.split(" ").map(Number);
  range.style.marginInlineStart = `calc(${begin}% - .5rem)`;
  range.style.width = `calc(${end - begin}% + 1rem)`;
  const play = bar().querySelector(".play");
  play.hidden = false;
  play.textContent = isPlaying ? "Pause" : "Play";
  play.setAttribute("aria-pressed", String(isPlaying));
}

function addressAt(unit) {
  const address = new URL(location.href);
  for (const name of ["from", "to", "cursor"]) address.searchParams.delete(name);
  address.searchParams.set("at", unit);
  return address;
}

// Replaces the page's content with that of the address, except the slider, which may be in use.
async function show(address, isStep) {
  try {
    const fetched = await fetchPage(address);
    if (!fetched) return;
    const { ok, page } = fetched;
    const isSame = ok && page.getElementById("answer") && document.getElementById("answer") && page.getElementById("moment");
    if (!isSame) return location.assign(address);
    if (isStep) history.replaceState(null, "", address);
    shown = address.search;
    document.title = page.title;
    const range = slider();
    const [old, fresh] = [bar(), page.getElementById("moment")];
    const hasFocus = old.querySelector(".steps").contains(document.activeElement) && document.activeElement.classList.contains("play");
    old.querySelector(".captures").replaceWith(fresh.querySelector(".captures"));
    old.querySelector(".steps").replaceWith(fresh.querySelector(".steps"));
    if (!isStep || isPlaying) range.value = fresh.querySelector(".slider").value;
    range.setAttribute("aria-valuetext", fresh.querySelector(".slider").getAttribute("aria-valuetext"));
    for (const part of [".how", "#save", ".groups"]) {
      const [here, there] = [document.querySelector(part), page.querySelector(part)];
      if (!here || !there || here.contains(document.activeElement)) continue;
      there.open = here.open; // of what can open
      here.replaceWith(there);
    }
    document.getElementById("answer").replaceWith(page.getElementById("answer"));
    prepare();
    if (hasFocus) bar().querySelector(".play").focus();
  } catch {
    location.assign(address);
  }
}

function move() {
  const unit = units()[Number(slider().value)];
  const address = addressAt(unit);
  if (!isMoving) history.pushState(null, "", location.href); // one history entry per movement of the slider
  isMoving = true;
  clearTimeout(timer);
  timer = setTimeout(() => show(address, true), 120);
}

async function play() {
  history.pushState(null, "", location.href); // one history entry per animation
  if (!bar().querySelector('.steps a[rel="next"]')) await show(addressAt(units()[0]), true);
  while (isPlaying) {
    const next = bar().querySelector('.steps a[rel="next"]');
    if (!next) break;
    await new Promise((done) => setTimeout(done, PAUSE));
    if (isPlaying) await show(new URL(next.getAttribute("href"), location.href), true);
  }
  isPlaying = false;
  prepare();
}

function light(target) {
  const node = target instanceof Element ? target.closest(".node") : null;
  for (const line of document.querySelectorAll(".edges .is-lit")) line.classList.remove("is-lit");
  if (node) document.getElementById(node.dataset.edge)?.classList.add("is-lit");
}

document.addEventListener("input", (event) => { if (event.target === slider()) move(); });
document.addEventListener("change", (event) => { if (event.target === slider()) isMoving = false; });
document.addEventListener("click", (event) => {
  if (!(event.target instanceof Element) || !event.target.closest(".play")) return;
  isPlaying = !isPlaying;
  prepare();
  if (isPlaying) play();
});
document.addEventListener("pointerover", (event) => light(event.target));
document.addEventListener("focusin", (event) => light(event.target));
// The graph is drawn by a script of its own, once it is there.
const draw = () => { if (document.getElementById("grows")) import("./grow.js"); };
document.addEventListener("arrived", draw);
draw();
addEventListener("popstate", () => {
  if (location.search === shown) return; // another place on the same page
  isPlaying = false;
  show(new URL(location.href), false);
});
prepare();
