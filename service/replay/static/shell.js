// The page that holds the replayed one. It starts the service worker, opens the page that its own
// address names (#COLLECTION/TIME/URI) in a frame, and says to the service which page the worker
// served to the document in the frame, and which address that document has now.
//
// Archived scripts have this origin. They can reach this document, and change the built-in objects
// that it uses. So nothing here is global, the channel to the service is opened before any of them
// runs, and what runs later uses only functions taken before and properties that scripts cannot
// change: `location` of a window and its `href`, elements of an array. The service checks the
// addresses.
const SERVICE = document.querySelector('meta[name="service"]').content;
const [, collection, time, uri] = /^#([^/]*)\/(\d{1,14})\/(https?:.*)$/is.exec(location.hash) ?? [];
const isInFrame = parent !== window;
const apply = Reflect.apply;
const decode = decodeURIComponent;
const getterOf = (object, name) => Object.getOwnPropertyDescriptor(object, name)?.get;
const performanceOf = getterOf(window, "performance");
const entriesOf = Performance.prototype.getEntriesByType;
const timingsOf = getterOf(PerformanceResourceTiming.prototype, "serverTiming");
const windowOf = getterOf(HTMLIFrameElement.prototype, "contentWindow");
const addedOf = getterOf(MutationRecord.prototype, "addedNodes");
const lengthOf = getterOf(NodeList.prototype, "length");
const remove = Element.prototype.remove;
const descriptionOf = getterOf(window.PerformanceServerTiming?.prototype ?? {}, "description");

// Returns the address of the page that the worker served to the document in a window; "" if the
// document is none of the worker's. The answer had it in a header, which the browser keeps with the
// document. So a page that another frame loads, and an address that a script sets, change nothing.
function servedTo(window) {
  try {
    const answer = apply(entriesOf, apply(performanceOf, window, []), ["navigation"])[0];
    return decode(apply(descriptionOf, apply(timingsOf, answer, [])[0], []));
  } catch {
    return "";
  }
}

// Returns the port to the service; in a tab of its own, no service listens.
function connect() {
  if (!isInFrame) return Promise.resolve(new MessageChannel().port1);
  return new Promise((resolve) => {
    addEventListener("message", function greet(event) {
      if (event.origin !== SERVICE || event.source !== parent || event.data !== "arclink-replay" || !event.ports[0]) return;
      removeEventListener("message", greet);
      resolve(event.ports[0]);
    });
    parent.postMessage("arclink-replay", SERVICE);
  });
}

// Keeps this document as it is: a page in a frame next to that of the archived page would stay when
// another page is opened there, and could change or cover it.
function keepAlone(frame) {
  document.body.attachShadow({ mode: "closed" }).append(document.createElement("slot")); // no second one is possible
  document.body.append(frame);
  const observer = new MutationObserver((records) => {
    for (let i = 0; i < records.length; i += 1) {
      const added = apply(addedOf, records[i], []);
      for (let j = apply(lengthOf, added, []) - 1; j >= 0; j -= 1) {
        if (added[j] !== frame) {
          try {
            apply(remove, added[j], []);
          } catch {
            // text, which shows nothing here
          }
        }
      }
    }
  });
  observer.takeRecords();
  observer.observe(document, { childList: true, subtree: true });
}

function startWorker() {
  const policy = window.trustedTypes?.createPolicy("worker", { createScriptURL: () => "/worker.js" });
  return navigator.serviceWorker.register(policy?.createScriptURL("") ?? "/worker.js", { scope: "/", updateViaCache: "none" });
}

function fail(send, why) {
  send({ what: "failed", why });
  if (!isInFrame) document.body.textContent = "This browser cannot replay pages: that needs HTTPS or this machine, and service workers. The text of the page is at the address where you came from.";
}

async function start(port) {
  const send = port.postMessage.bind(port);
  if (!time || !isSecureContext) return fail(send, "insecure");
  try {
    await startWorker();
    await navigator.serviceWorker.ready;
  } catch {
    return fail(send, "blocked"); // also without navigator.serviceWorker, in some private windows
  }
  const frame = document.createElement("iframe");
  frame.name = "___wb_replay_top_frame"; // by this name, wabac.js knows the page that is not inside another
  frame.title = "Archived page";
  frame.setAttribute("sandbox", "allow-scripts allow-same-origin allow-forms");
  frame.src = `${location.origin}/w/${collection}/${time}mp_/${new URL(uri).href}`; // without dot segments
  keepAlone(frame);
  const tell = () => {
    try {
      const shown = apply(windowOf, frame, []);
      send({ what: "shown", served: servedTo(shown), address: shown.location.href });
    } catch {
      // a page without this origin, such as the browser's own error page
    }
  };
  frame.addEventListener("load", tell);
  addEventListener("message", tell); // from wabac.js in the page: its address or title changed
  port.onmessage = tell; // the service asks; scripts of a page can keep both events from coming
}

connect().then(start);
