// The page that holds the replayed one. It starts the service worker, opens the page that its own
// address names (#COLLECTION/TIME/URI) in a frame, and passes on to the service which pages the
// worker served, and which address the frame shows.
//
// Archived scripts have this origin. They can reach this document, and change the built-in objects
// that it uses. So nothing here is global, the channel to the service is opened before any of them
// runs, and what runs later uses only functions taken before and properties that scripts cannot
// change: `isTrusted` of an event, `location` of a window and its `href`. The service checks the
// addresses.
const SERVICE = document.querySelector('meta[name="service"]').content;
const [, collection, time, uri] = /^#([^/]*)\/(\d{1,14})\/(https?:.*)$/is.exec(location.hash) ?? [];
const isInFrame = parent !== window;
const apply = Reflect.apply;
const dataOf = Object.getOwnPropertyDescriptor(MessageEvent.prototype, "data").get;

// Returns the function that passes a message to the service; in a tab of its own, no service listens.
function connect() {
  if (!isInFrame) return Promise.resolve(() => {});
  return new Promise((resolve) => {
    addEventListener("message", function greet(event) {
      if (event.origin !== SERVICE || event.source !== parent || event.data !== "arclink-replay" || !event.ports[0]) return;
      removeEventListener("message", greet);
      const [port] = event.ports;
      resolve(port.postMessage.bind(port));
    });
    parent.postMessage("arclink-replay", SERVICE);
  });
}

function startWorker() {
  const policy = window.trustedTypes?.createPolicy("worker", { createScriptURL: () => "/worker.js" });
  return navigator.serviceWorker.register(policy?.createScriptURL("") ?? "/worker.js", { scope: "/", updateViaCache: "none" });
}

function fail(send, why) {
  send({ what: "failed", why });
  if (!isInFrame) document.body.textContent = "This browser cannot replay pages: that needs HTTPS or this machine, and service workers. The text of the page is at the address where you came from.";
}

async function start(send) {
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
  document.body.append(frame);
  const shown = frame.contentWindow;
  const tell = () => {
    try {
      send({ what: "shown", address: shown.location.href });
    } catch {
      // a page without this origin, such as the browser's own error page
    }
  };
  frame.addEventListener("load", tell);
  addEventListener("message", tell); // from wabac.js in the page: its address or title changed
  navigator.serviceWorker.addEventListener("message", (event) => {
    if (!event.isTrusted) return;
    send({ what: "served", address: apply(dataOf, event, []) });
    tell();
  });
  navigator.serviceWorker.startMessages();
}

connect().then(start);
