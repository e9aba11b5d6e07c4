// The service worker of the replay origin. It runs wabac.js unchanged (`wabac.js` on this server),
// which rewrites archived pages, and adds three rules around it:
//
// - every answer gets this project's policy, so that an archived page can ask no other host;
// - nothing is cached and nothing is read from a cache, so that a removed capture is gone;
// - no page can change what the worker does: it takes no messages, and its collections are fixed.
"use strict";

const POLICY = @POLICY@; // from the server
const CONNECTIONS = @CONNECTIONS@;

const PREFIX = new URL("w/", registration.scope).href;
const listen = self.addEventListener.bind(self);

const NOT_FOUND = `<!doctype html><html lang="en"><meta charset="utf-8"><title>No capture to show</title>
<style>body { font: 1rem/1.5 system-ui, sans-serif; margin: 3rem auto; max-width: 34rem; padding: 0 1rem; }</style>
<h1>No capture to show</h1><p>The service has no capture of this page that it can show. That does not mean that it did not exist.</p></html>`;

// Ways in which wabac.js rewrites a page, so that its own program runs in it first. Without that, a page
// has this origin with nothing around it: no other way is open to pages, and captures as archived to no client.
const PAGE_WAYS = ["mp_", "if_", "fr_", "ln_", "oe_"];
const AS_ARCHIVED = ["id_", "dl_"];
const FOR_WORKERS = "wkrf_"; // as archived: for fetch() in a worker of a page

function isRefused(request, isPage) {
  if (!request.url.startsWith(PREFIX)) return false; // wabac.js leads to an address below PREFIX, or to nothing
  const [, way = ""] = /^[^/]*\/(?::[^/]*\/)?\d*([a-z]+_)?\//.exec(request.url.slice(PREFIX.length)) ?? [];
  return AS_ARCHIVED.includes(way) || (way === FOR_WORKERS && request.destination !== "") || (isPage && !PAGE_WAYS.includes(way));
}

// Args: a response of wabac.js; the address that it answers if it is a page, else nothing.
function guarded(response, page) {
  const isPage = page !== "";
  // Redirects and errors have no headers that a script could set; they show no page either.
  if (response.type === "error" || response.type === "opaqueredirect" || response.status === 0) return response;
  const headers = new Headers(response.headers);
  // Of the types that can have scripts, wabac.js rewrites HTML only: the others run none.
  const isRewritten = !isPage || /^text\/html\b/i.test(headers.get("Content-Type") ?? "");
  headers.set("Content-Security-Policy", isRewritten ? POLICY : `${POLICY}; sandbox allow-same-origin`);
  headers.set("Connection-Allowlist", CONNECTIONS); // also WebRTC, which no policy covers
  headers.set("Cache-Control", "no-store");
  headers.set("Referrer-Policy", "same-origin"); // wabac.js resolves addresses by the referrer
  headers.set("X-DNS-Prefetch-Control", "off");
  // Of this server's answer, not of the archived one: they are for a browser that opens a capture as such.
  for (const name of ["Server-Timing", "X-Frame-Options", "X-Content-Type-Options", "Link", "Refresh", "Clear-Site-Data", "Speculation-Rules", "Service-Worker-Allowed"]) headers.delete(name);
  // Stays with the document, whatever its scripts do with their address (`servedTo` in shell.js).
  if (isPage) headers.set("Server-Timing", `served;desc="${encodeURIComponent(page)}"`);
  const isCapture = headers.has("Memento-Datetime");
  if (isPage && response.status >= 400 && !isCapture) {
    headers.set("Content-Security-Policy", POLICY);
    headers.set("Content-Type", "text/html; charset=utf-8");
    return new Response(NOT_FOUND, { status: response.status, headers });
  }
  const hasBody = ![101, 204, 205, 304].includes(response.status);
  return new Response(hasBody ? response.body : null, { status: response.status, statusText: response.statusText, headers });
}

// Requests outside of PREFIX go to the server, which has nothing but this project's own files.
function answer(event, listener) {
  const url = event.request.url;
  if (url.startsWith(`${PREFIX}api/`)) {
    event.respondWith(new Response("", { status: 404 }));
    return;
  }
  const isOwn = url.startsWith(`${registration.scope}replay/`);
  if (isOwn) return; // the browser asks the server
  const isPage = ["document", "iframe", "frame", "object", "embed", "fencedframe"].includes(event.request.destination);
  const page = isPage ? url : "";
  if (isRefused(event.request, isPage)) {
    event.respondWith(guarded(new Response("", { status: 404 }), page));
    return;
  }
  const respond = event.respondWith.bind(event);
  event.respondWith = (response) => respond(Promise.resolve(response).then((found) => guarded(found, page)));
  listener.call(self, event);
}

self.addEventListener = (type, listener, ...options) => {
  if (type === "message") return;
  listen(type, type === "fetch" ? (event) => answer(event, listener) : listener, ...options);
};
const none = { open: async () => none, match: async () => undefined, put: async () => undefined, keys: async () => [], delete: async () => false, has: async () => false };
Object.defineProperty(self, "caches", { value: none });

// Only sounds and videos are asked for in parts. wabac.js may rewrite other files, as a whole only.
const asWhole = self.fetch.bind(self);
async function ask(resource, options = {}) {
  if (!options.headers) return asWhole(resource, { ...options, cache: "no-store" });
  const headers = new Headers(options.headers);
  const range = headers.get("Range") ?? "";
  headers.delete("Range");
  const whole = { ...options, headers, cache: "no-store" };
  if (!range) return asWhole(resource, whole);
  const part = new Headers(headers);
  part.set("Range", range);
  const response = await asWhole(resource, { ...whole, headers: part });
  const isMedia = /^(audio|video|application\/octet-stream)\b/i.test(response.headers.get("Content-Type") ?? "");
  return isMedia || ![206, 416].includes(response.status) ? response : asWhole(resource, whole);
}

// wabac.js replaces answers with an error by a page of its own. Errors that were archived are shown:
// it takes their status from a header.
self.fetch = async (resource, options) => {
  const response = await ask(resource, options);
  if (response.status <= 400 || !response.headers.has("Memento-Datetime")) return response;
  const headers = new Headers(response.headers);
  headers.set("X-Redirect-Status", response.status);
  headers.set("X-Redirect-StatusText", response.statusText);
  return new Response(response.body, { headers });
};

importScripts("/replay/wabac.js");

// wabac.js keeps collections in a database that any page of this origin could change. Here, a
// collection is its name: the captures below /NAME/web/, or below /web/ for the collection "-".
const collections = new Map();
async function collectionOf(name) {
  if (!/^(-|[a-z0-9][a-z0-9_-]{0,50})$/.test(name)) return null;
  if (!collections.has(name)) {
    const below = name === "-" ? "" : `${name}/`;
    const extraConfig = { prefix: "", isLive: false, archivePrefix: `${registration.scope}${below}web/`, archiveMod: "id_", noPostToGet: true };
    const config = { sourceUrl: "proxy:", extraConfig };
    collections.set(name, await self.sw.collections._initColl({ name, type: "live", config }));
  }
  return collections.get(name);
}
self.sw.collections.getColl = collectionOf;

// For browsers without Connection-Allowlist: every page with scripts runs wombat.js first, and every
// worker wombatWorkers.js.
for (const name of ["wombat.js", "wombatWorkers.js"]) {
  const program = self.sw.staticData.get(`${registration.scope}static/${name}`);
  program.content = `for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "WebTransport"]) delete self[name];\n${program.content}`;
}

self.sw.collections.inited = Promise.resolve(true);
