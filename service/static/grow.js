// Draws the graph of a page with WebGL, and lets it grow in place. The server decides which nodes
// there are and where; the address of a grown graph is the address of a page that has it, so that
// what is seen can be reloaded, shared and saved. Names are archived text: they are only set as
// text. Without WebGL, the picture of the server stays; its nodes are links.
import { fetchPage } from "./fetch_page.js";

const MOVE = 450; // milliseconds
const AGAIN = 3000; // milliseconds until the server is asked for what it was counting, and then longer
const MOST_AGAIN = 20;
const LONGEST = [22, 34]; // characters of a label, in a narrow picture and in a wide one
const MARGIN = 30;
const WHEEL = 30; // pixels of a turn of the wheel that count at most: a touchpad sends small ones
const SPARE = 30; // units at each side of the places, where no node is

const section = document.getElementById("grows");
const box = section.querySelector(".canvas");
const isStill = matchMedia("(prefers-reduced-motion: reduce)");
const isDark = matchMedia("(prefers-color-scheme: dark)");
const dragged = new Set(); // names of nodes whose places a reader has chosen
let data = dataOf(document);
let graph = null;
let view = null;
let colours = {};
let selected = "";
let hovered = "";
let near = null; // the nodes that keep their colours and names; null for all
let isUpright = false;
let moving = 0;
let asked = 0;
let labels = []; // nodes whose names are drawn next

function dataOf(page) {
  const found = page.getElementById("graph-data");
  return found && JSON.parse(found.textContent);
}

function say(text) {
  document.getElementById("grows-status").textContent = text;
}

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

const counted = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;

const nodeNamed = (name) => data.nodes.find((node) => node.name === name);

// How many of the neighbours of a node are shown; empty if they were not asked for.
const shownOf = (node, of = "") => (node.known === null ? "" : `${node.shown.toLocaleString("en")} of ${counted(node.known, "neighbour")}${of} shown`);

const factsOf = (node) => [...node.says.split("; "), shownOf(node)].filter(Boolean);

const isolated = (text) => element("bdi", { dir: "ltr" }, text);

function shortened(name) {
  const text = name.replace(/^https?:\/\//, "");
  const longest = LONGEST[Number(box.clientWidth > 600)];
  return text.length <= longest ? text : `${text.slice(0, longest / 2 - 1)}…${text.slice(-longest / 2)}`;
}

function hasWebGl() {
  const canvas = document.createElement("canvas");
  const context = canvas.getContext("webgl2") ?? canvas.getContext("webgl");
  context?.getExtension("WEBGL_lose_context")?.loseContext();
  return Boolean(context);
}

function readColours() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["paper", "sheet", "ink", "soft", "line", "in", "out"]) colours[name] = style.getPropertyValue(`--${name}`).trim();
  colours.font = style.getPropertyValue("--plain");
}

// What a node looks like: a disc if it was captured, a ring if not, both if it was not read. The
// parts are shares of its radius, from the outside. What the graph is about has another ring.
function looksOfNode(name, node) {
  const isFaded = near !== null && !near.has(name);
  const { kind, captured, is_about: isAbout } = node;
  const hue = isFaded ? colours.line : kind === "near" ? colours.in : colours.out;
  const size = node.size + (isAbout ? 5 : 0);
  const isDisc = captured === "yes";
  return {
    ...node,
    size,
    ringSize: isAbout ? 2 / size : 0,
    gapSize: isAbout ? 3 / size : 0,
    edgeSize: isDisc ? 0 : (0.3 * node.size) / size,
    holeSize: isDisc ? 0 : (0.3 * node.size) / size,
    ring: isFaded ? colours.line : colours.ink,
    paper: colours.paper,
    color: hue,
    core: isDisc || captured === "unread" ? hue : colours.paper,
    label: isFaded || name === hovered ? "" : shortened(name),
    forceLabel: true,
    zIndex: isFaded ? 0 : kind === "near" ? 1 : 2,
  };
}

function looksOfLink(key, link) {
  const isOf = graph.extremities(key).includes(hovered || selected);
  return { ...link, color: isOf ? colours.ink : hovered ? colours.line : `${colours.soft}b0`, zIndex: isOf ? 1 : 0 };
}

// The node under the pointer and its neighbours keep their colours.
function light() {
  if (!graph.hasNode(hovered)) hovered = "";
  near = hovered ? new Set([hovered, ...graph.neighbors(hovered)]) : null;
  view.refresh({ skipIndexation: true });
}

// A label is above its node, or below it. Labels that would cover another one or the buttons, or
// whose nodes are outside, are left out: those of open nodes come first, then by size.
function drawLabels() {
  const { width, height } = view.getDimensions();
  const context = view.getCanvases().labels.getContext("2d");
  const size = view.getSetting("labelSize");
  context.textAlign = "center";
  context.direction = "ltr";
  context.lineJoin = "round";
  context.lineWidth = 3.5;
  context.strokeStyle = colours.paper;
  context.fillStyle = colours.ink;
  const taken = [];
  const buttons = box.querySelector(".zoom");
  for (let y = 0; y < buttons.offsetTop + buttons.offsetHeight + size; y += size) taken.push([buttons.offsetLeft, buttons.offsetLeft + buttons.offsetWidth, y]);
  const weight = (node) => (node.name === selected ? 3 : node.kind !== "near" ? 2 : node.is_about ? 1 : 0);
  labels.sort((one, other) => weight(other) - weight(one) || other.size - one.size);
  for (const node of labels) {
    if (node.x < 0 || node.x > width || node.y < 0 || node.y > height) continue;
    context.font = `${node.kind === "near" ? 400 : 600} ${size}px ${colours.font}`;
    const half = context.measureText(node.label).width / 2 + 2;
    const x = Math.max(half + 2, Math.min(node.x, width - half - 2));
    const isFree = (y) => taken.every(([left, right, base]) => x + half < left || x - half > right || Math.abs(y - base) > size + 1);
    const y = [node.y - node.size - 5, node.y + node.size + size + 2].find(isFree);
    if (y === undefined) continue;
    taken.push([x - half, x + half, y]);
    context.strokeText(node.label, x, y);
    context.fillText(node.label, x, y);
  }
  labels = [];
}

// What the pointer is on: its whole name, as far as there is room, its links and captures.
function drawHover(context, node, settings) {
  const { width, height } = view.getDimensions();
  const lines = [node.name, ...factsOf(node)];
  const size = settings.labelSize;
  context.textAlign = "start";
  context.direction = "ltr";
  const fonts = lines.map((_, number) => `${number ? 400 : 600} ${size}px ${colours.font}`);
  const most = Math.min(width - 40, 420);
  const texts = lines.map((line, number) => {
    context.font = fonts[number];
    let text = line;
    for (let kept = text.length; context.measureText(text).width > most; kept = Math.floor(kept * 0.9)) {
      text = `${line.slice(0, Math.ceil(kept / 2))}…${line.slice(line.length - Math.floor(kept / 2))}`;
    }
    return text;
  });
  const wide = Math.max(...texts.map((text, number) => { context.font = fonts[number]; return context.measureText(text).width; })) + 20;
  const tall = texts.length * (size + 5) + 12;
  const left = Math.max(4, Math.min(node.x - wide / 2, width - wide - 4));
  const below = node.y + node.size + 8;
  const top = below + tall < height ? below : node.y - node.size - 8 - tall;
  context.beginPath();
  context.roundRect(left, top, wide, tall, 5);
  context.fillStyle = colours.sheet;
  context.fill();
  context.lineWidth = 1;
  context.strokeStyle = colours.soft;
  context.stroke();
  context.beginPath();
  context.arc(node.x, node.y, node.size + 3, 0, 2 * Math.PI);
  context.lineWidth = 2;
  context.strokeStyle = colours.ink;
  context.stroke();
  context.fillStyle = colours.ink;
  texts.forEach((text, number) => {
    context.font = fonts[number];
    context.fillText(text, left + 10, top + 8 + (number + 0.75) * (size + 5));
  });
}

// The places of the server, with y upwards; on its side in a box that is taller than wide.
const placeOf = (node) => (isUpright ? { x: node.y, y: -node.x } : { x: node.x, y: -node.y });

// Puts the nodes and links of `data` into the graph. Nodes that come begin at `from`.
function fill(from = null) {
  const names = new Set(data.nodes.map((node) => node.name));
  for (const name of graph.nodes()) if (!names.has(name)) graph.dropNode(name);
  graph.clearEdges();
  const targets = new Map();
  for (const node of data.nodes) {
    const { x, y, ...rest } = node;
    const target = placeOf(node);
    if (graph.hasNode(node.name)) graph.mergeNodeAttributes(node.name, rest);
    else graph.addNode(node.name, { ...rest, ...(from ?? target) });
    if (!dragged.has(node.name)) targets.set(node.name, target);
  }
  for (const link of data.links) graph.addEdgeWithKey(`${link.source} ${link.target}`, link.source, link.target, { size: 0.8 + 0.6 * link.width, links: link.links });
  if (!graph.hasNode(selected)) selected = "";
  move(targets);
}

function move(targets) {
  cancelAnimationFrame(moving);
  const begin = performance.now();
  const starts = new Map([...targets.keys()].map((name) => [name, [graph.getNodeAttribute(name, "x"), graph.getNodeAttribute(name, "y")]]));
  const step = (now) => {
    const share = isStill.matches ? 1 : Math.min(Math.max((now - begin) / MOVE, 0), 1);
    const eased = share * share * (3 - 2 * share);
    graph.updateEachNodeAttributes((name, node) => {
      const target = targets.get(name);
      if (!target || dragged.has(name)) return node;
      const [x, y] = starts.get(name);
      return { ...node, x: x + (target.x - x) * eased, y: y + (target.y - y) * eased };
    }, { attributes: ["x", "y"] });
    if (share < 1) moving = requestAnimationFrame(step);
    else section.dataset.moves = "no";
  };
  section.dataset.moves = "yes";
  step(begin);
}

// Shows the graph of an address in place, and the address in the browser.
async function grow(address, name, isAgain = false) {
  const before = new Set(graph.nodes());
  section.setAttribute("aria-busy", "true");
  try {
    const fetched = await fetchPage(new URL(address, location.href));
    if (!fetched || !view) return;
    const { ok, url, page } = fetched;
    const found = ok ? dataOf(page) : null;
    if (!found) {
      const why = page.querySelector("main [role=status]")?.textContent.replace(/\s+/g, " ").trim();
      return say(`The graph stays as it is: ${ok || !why ? "its neighbours are being counted" : why} Try again in a moment.`);
    }
    if (!isAgain) asked = 0;
    data = found;
    history.replaceState(null, "", url);
    const focus = document.activeElement?.closest("[data-node]")?.dataset.node;
    const isOpen = section.querySelector(".nodes").open;
    for (const part of ["#network", "#about-graph", "#against", ".picture", "#save"]) {
      const [old, fresh] = [document.querySelector(part), page.querySelector(part)];
      if (old && fresh) old.replaceWith(fresh);
    }
    section.querySelector(".nodes").open = isOpen;
    section.querySelector(".picture").hidden = true;
    if (focus) [...section.querySelectorAll("tr[data-node]")].find((row) => row.dataset.node === focus)?.querySelector(".grow, a")?.focus();
    fill(before.has(name) ? { x: graph.getNodeAttribute(name, "x"), y: graph.getNodeAttribute(name, "y") } : null);
    if (name && graph.hasNode(name)) selected = name;
    light();
    showSelected();
    if (!isAgain) report(before, name);
    prepare();
  } catch (error) {
    say(`The service cannot be reached: ${error.message}`);
  } finally {
    section.removeAttribute("aria-busy");
  }
}

function report(before, name) {
  const added = graph.nodes().filter((one) => !before.has(one)).length;
  const gone = [...before].filter((one) => !graph.hasNode(one)).length;
  const node = nodeNamed(name);
  const parts = [added && `${counted(added, "node")} added`, gone && `${counted(gone, "node")} left out`, !added && !gone && "No other nodes", node && shownOf(node, ` of ${name}`)];
  say(parts.filter(Boolean).map((part) => `${part}.`).join(" "));
}

// Asks again for what the server was counting, and says so meanwhile.
function prepare() {
  const waits = document.getElementById("graph-waits");
  if (!waits || asked >= MOST_AGAIN) return;
  asked += 1;
  const address = location.href;
  setTimeout(() => { if (location.href === address) grow(address, selected, true); }, AGAIN * (1 + asked / 4));
}

function showSelected() {
  const panel = section.querySelector(".selected");
  const node = nodeNamed(selected);
  panel.hidden = !node;
  if (!node) return;
  const parts = [element("strong", {}, isolated(node.name)), ...factsOf(node).map((text) => element("span", {}, text))];
  const links = element("div", { class: "look" });
  if (node.grow) links.append(element("a", { href: node.grow, class: "grow" }, node.grow_says), " ");
  for (const [text, href] of [["Its own graph", node.own], ["Its page", node.page], ["Who linked to it", node.linkers], ["Its captures", node.when]]) links.append(element("a", { href }, text), " ");
  const close = element("button", { type: "button", "aria-label": "Close" }, "×");
  close.addEventListener("click", () => select(""));
  panel.replaceChildren(close, ...parts, links);
}

function select(name) {
  selected = name;
  light();
  showSelected();
}

function choose(name) {
  const node = nodeNamed(name);
  if (!node) return;
  select(name);
  if (node.kind === "near" && node.grow) grow(node.grow, name);
}

function listen() {
  let held = "";
  let hasMoved = false;
  view.on("afterRender", drawLabels);
  view.on("enterNode", ({ node }) => { if (!held) { hovered = node; box.classList.add("is-on-node"); light(); } });
  view.on("leaveNode", () => { if (!held) { hovered = ""; box.classList.remove("is-on-node"); light(); } });
  view.on("clickNode", ({ node }) => { if (!hasMoved) choose(node); });
  view.on("clickStage", () => { if (!hasMoved) select(""); });
  view.on("doubleClickNode", (event) => event.preventSigmaDefault());
  view.on("doubleClickStage", (event) => event.preventSigmaDefault());
  view.on("downNode", ({ node }) => { [held, hasMoved] = [node, false]; });
  view.on("downStage", () => { hasMoved = false; });
  view.on("moveBody", ({ event }) => {
    if (!held) return;
    const place = view.viewportToGraph(event);
    const from = view.graphToViewport(graph.getNodeAttributes(held));
    if (!hasMoved && Math.hypot(event.x - from.x, event.y - from.y) < 6) return event.preventSigmaDefault();
    hasMoved = true;
    dragged.add(held);
    graph.mergeNodeAttributes(held, place);
    event.preventSigmaDefault();
    event.original.preventDefault();
    event.original.stopPropagation();
  });
  view.on("upNode", () => { held = ""; });
  view.on("upStage", () => { held = ""; });
  // The page scrolls over the picture: with the wheel, and with one finger that is on no node. With
  // Ctrl, the wheel zooms, and so do two fingers, which a touchpad tells as the wheel with Ctrl.
  const pass = (event) => event.stopPropagation();
  const camera = view.getCamera();
  const placeIn = ({ clientX, clientY }) => {
    const { left, top } = box.getBoundingClientRect();
    return { x: clientX - left, y: clientY - top };
  };
  const zoom = (from, to, factor) => { // what is at `from` comes to `to`
    const state = camera.getState();
    const ratio = camera.getBoundedRatio(state.ratio * factor);
    const old = view.viewportToFramedGraph(from, { cameraState: state });
    const fresh = view.viewportToFramedGraph(to, { cameraState: { ...state, ratio } });
    camera.setState({ x: state.x + old.x - fresh.x, y: state.y + old.y - fresh.y, ratio });
  };
  box.addEventListener("wheel", (event) => {
    pass(event);
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const turned = Math.max(-WHEEL, Math.min(event.deltaY * (event.deltaMode ? WHEEL : 1), WHEEL));
    zoom(placeIn(event), placeIn(event), Math.exp(turned / 100));
  }, { capture: true, passive: false });
  const pinched = ({ touches }) => {
    const [one, other] = [...touches].map(placeIn);
    return { middle: { x: (one.x + other.x) / 2, y: (one.y + other.y) / 2 }, apart: Math.max(1, Math.hypot(one.x - other.x, one.y - other.y)) };
  };
  let pinch = null;
  const isOnNode = (touch) => {
    const at = placeIn(touch);
    return graph.nodes().some((name) => {
      const { x, y, size } = view.getNodeDisplayData(name);
      const place = view.framedGraphToViewport({ x, y });
      return Math.hypot(place.x - at.x, place.y - at.y) < Math.max(size, 14);
    });
  };
  box.addEventListener("touchstart", (event) => {
    if (!(event.target instanceof HTMLCanvasElement)) return;
    pinch = event.touches.length === 2 ? pinched(event) : null;
    if (pinch) [held, hasMoved] = ["", true];
    if (pinch || !isOnNode(event.touches[0])) pass(event);
  }, { capture: true });
  box.addEventListener("touchmove", (event) => {
    if (!pinch || event.touches.length !== 2) return;
    pass(event);
    if (event.cancelable) event.preventDefault();
    const before = pinch;
    pinch = pinched(event);
    zoom(before.middle, pinch.middle, before.apart / pinch.apart);
  }, { capture: true, passive: false });
  const duration = () => (isStill.matches ? 1 : 250);
  for (const [label, text, act] of [
    ["Zoom in", "+", () => camera.animatedZoom({ duration: duration() })],
    ["Zoom out", "−", () => camera.animatedUnzoom({ duration: duration() })],
    ["Show the whole graph", "⤢", () => camera.animatedReset({ duration: duration() })],
  ]) {
    const button = element("button", { type: "button", "aria-label": label, title: label }, text);
    button.addEventListener("click", act);
    box.querySelector(".zoom").append(button);
  }
  for (const canvas of Object.values(view.getCanvases())) {
    canvas.style.touchAction = "inherit"; // of the drawing: the browser scrolls and does not zoom
    canvas.addEventListener("webglcontextlost", stop);
  }
  isDark.addEventListener("change", () => { if (view) { readColours(); light(); } });
}

// Shows the picture of the server instead of the drawing.
function showPicture(why) {
  box.hidden = true;
  for (const part of section.querySelectorAll(".selected, .gestures")) part.remove();
  section.querySelector(".picture").hidden = false;
  say(`In this picture, a click on a node opens another page, because ${why}.`);
}

function stop() {
  if (!view) return;
  view.kill();
  view = null;
  showPicture("your browser stopped drawing with WebGL");
}

async function start() {
  if (!hasWebGl()) return showPicture("your browser does not draw with WebGL");
  await Promise.all([import("./vendor/graphology.umd.min.js"), import("./vendor/sigma.min.js")]); // they set globals
  readColours();
  graph = new graphology({ type: "directed" });
  const { rendering } = Sigma;
  const size = (attribute) => ({ attribute, defaultValue: 0, mode: "relative" });
  const heads = { lengthToThicknessRatio: 4.5, widenessToThicknessRatio: 3.5 };
  box.hidden = false;
  section.querySelector(".picture").hidden = true;
  box.replaceChildren(element("div", { class: "drawing", "aria-hidden": "true" }), element("div", { class: "zoom", role: "group", "aria-label": "Zoom" }));
  const selection = element("div", { class: "selected", role: "group", "aria-label": "The selected node", hidden: "" });
  box.after(selection, element("p", { class: "why gestures" }, "The wheel with Ctrl, or two fingers, zoom the graph. Nodes can be dragged."));
  isUpright = box.clientHeight > box.clientWidth;
  fill();
  view = new Sigma(graph, box.querySelector(".drawing"), {
    defaultNodeType: "mark",
    nodeProgramClasses: {
      mark: rendering.createNodeBorderProgram({
        borders: [
          { size: size("ringSize"), color: { attribute: "ring" } },
          { size: size("gapSize"), color: { attribute: "paper" } },
          { size: size("edgeSize"), color: { attribute: "color" } },
          { size: size("holeSize"), color: { attribute: "paper" } },
          { size: { fill: true }, color: { attribute: "core" } },
        ],
      }),
    },
    defaultEdgeType: "arrow",
    edgeProgramClasses: { arrow: rendering.createEdgeCompoundProgram([rendering.createEdgeClampedProgram(heads), rendering.createEdgeArrowHeadProgram(heads)]) },
    minEdgeThickness: 0.8,
    nodeReducer: looksOfNode,
    edgeReducer: looksOfLink,
    defaultDrawNodeLabel: (_, node) => { if (node.label) labels.push(node); },
    defaultDrawNodeHover: drawHover,
    labelSize: 12,
    labelRenderedSizeThreshold: 0,
    stagePadding: MARGIN,
    minCameraRatio: 0.05,
    maxCameraRatio: 4,
    enableCameraRotation: false,
    zIndex: true,
    ...(isStill.matches ? { inertiaDuration: 1, zoomDuration: 1 } : {}),
  });
  const [across, down] = isUpright ? [data.height, data.width] : [data.width, data.height];
  view.setCustomBBox({ x: [SPARE, across - SPARE], y: [SPARE - down, -SPARE] });
  listen();
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest("#grows a.grow") : null;
    if (!link || !view || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    grow(link.getAttribute("href"), link.closest("[data-node]")?.dataset.node ?? selected);
  });
  light();
  prepare();
}

start().catch((error) => showPicture(`a script failed: ${error.message}`));
