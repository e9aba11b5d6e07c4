// The page that holds the replayed one. It starts the service worker, opens the page that its own
// address names (#COLLECTION/TIME/URI) in a frame, and reports to the service, and to no other
// origin, which page the frame shows.
"use strict";

const SERVICE = document.querySelector('meta[name="service"]').content;
const [, collection, time, uri] = /^#([^/]*)\/(\d{1,14})\/(.*)$/s.exec(location.hash) ?? [];
const BEFORE = `${location.origin}/w/${collection}/`;

function report(message) {
  parent.postMessage({ about: "replay", ...message }, SERVICE);
}

// The archived URI in the address of a frame, which is that of the worker: /w/COLLECTION/TIMEmp_/URI
function uriOf(address) {
  if (!address.startsWith(BEFORE)) return null;
  return /^\d*[a-z_]*\/(https?:\/\/.*)$/is.exec(address.slice(BEFORE.length))?.[1].replace(/#.*$/s, "") ?? null;
}

function reportPage(frame) {
  let found = null;
  let title = "";
  try {
    found = uriOf(frame.contentWindow.location.href);
    title = frame.contentDocument?.title ?? "";
  } catch {
    return; // a page without this origin, such as the browser's own error page
  }
  if (found) report({ what: "page", uri: found, title: String(title).slice(0, 500) });
}

async function start() {
  if (!time) return;
  if (!isSecureContext || !navigator.serviceWorker) {
    report({ what: "failed" });
    return;
  }
  await navigator.serviceWorker.register("/worker.js", { scope: "/", updateViaCache: "none" });
  await navigator.serviceWorker.ready;
  const frame = document.createElement("iframe");
  frame.name = "___wb_replay_top_frame"; // by this name, wabac.js knows the page that is not inside another
  frame.title = "Archived page";
  frame.addEventListener("load", () => reportPage(frame));
  addEventListener("message", (event) => {
    if (event.source !== frame.contentWindow || event.origin !== location.origin) return;
    if (["load", "replace-url", "title"].includes(event.data?.wb_type)) reportPage(frame);
  });
  frame.src = `${BEFORE}${time}mp_/${uri}`;
  document.body.append(frame);
  report({ what: "started" });
}

start().catch(() => report({ what: "failed" }));
