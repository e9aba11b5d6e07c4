// Fetches pages of this service, for scripts that show parts of them in the page that is open. One
// request at a time: a newer one ends the older.

let request = null;

export function endRequest() {
  request?.abort();
}

// Returns the page at an address, with its status and the address that answered; null if it was no
// longer wanted. A redirect may lead to an address that begins with `place`; without `place`, to one
// with the same path. The page of any other address is an error: it is not the one that was meant.
export async function fetchPage(address, place = null) {
  endRequest();
  const own = (request = new XMLHttpRequest()); // it parses the page itself, so no text becomes HTML here
  document.body.classList.add("is-busy");
  try {
    const isComplete = await new Promise((resolve, reject) => {
      own.open("GET", address);
      own.responseType = "document";
      own.setRequestHeader("Accept", "text/html");
      own.addEventListener("load", () => resolve(true));
      own.addEventListener("abort", () => resolve(false));
      own.addEventListener("error", () => reject(new Error("no answer")));
      own.send();
    });
    if (!isComplete) return null;
    const [asked, found] = [new URL(address, location.href), new URL(own.responseURL)];
    const isExpected = place ? found.href.startsWith(place) : found.origin === asked.origin && found.pathname === asked.pathname;
    if (!isExpected || !own.response) throw new Error("the answer is another page");
    return { ok: own.status >= 200 && own.status < 300, url: found.href, page: own.response };
  } finally {
    if (request === own) document.body.classList.remove("is-busy");
  }
}
