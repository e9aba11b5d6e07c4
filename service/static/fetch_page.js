// Fetches pages of this service, for scripts that show parts of them in the page that is open. Of the
// pages that a reader goes to, one at a time: a newer request ends the older.

let request = null;

export function endRequest() {
  request?.abort();
}

// Sends a request for a page, and returns whether it was answered: it may be ended before.
export function sent(request, address) {
  return new Promise((resolve, reject) => {
    request.open("GET", address);
    request.responseType = "document"; // the browser parses the page, so no text becomes HTML here
    request.setRequestHeader("Accept", "text/html");
    request.addEventListener("load", () => resolve(true));
    request.addEventListener("abort", () => resolve(false));
    for (const name of ["error", "timeout"]) request.addEventListener(name, () => reject(new Error("no answer")));
    request.send();
  });
}

// Returns the page at an address, with its status and the address that answered; null if it was no
// longer wanted. A redirect may lead to an address that begins with `place`; without `place`, to one
// with the same path. The page of any other address is an error: it is not the one that was meant.
export async function fetchPage(address, place = null) {
  endRequest();
  const own = (request = new XMLHttpRequest());
  document.body.classList.add("is-busy");
  try {
    if (!(await sent(own, address))) return null;
    const [asked, found] = [new URL(address, location.href), new URL(own.responseURL)];
    const isExpected = place ? found.href.startsWith(place) : found.origin === asked.origin && found.pathname === asked.pathname;
    if (!isExpected || !own.response) throw new Error("the answer is another page");
    return { ok: own.status >= 200 && own.status < 300, url: found.href, page: own.response };
  } finally {
    if (request === own) document.body.classList.remove("is-busy");
  }
}
