// Fetches pages of this service, for scripts that show parts of them in the page that is open. One
// request at a time: a newer one ends the older.

let request = null;

export function endRequest() {
  request?.abort();
}

// Returns the answer from an address, and the page in it; null if it was no longer wanted.
export async function fetchPage(address) {
  endRequest();
  const own = (request = new AbortController());
  document.body.classList.add("is-busy");
  try {
    const answer = await fetch(address, { signal: own.signal, headers: { Accept: "text/html" } });
    return { answer, page: new DOMParser().parseFromString(await answer.text(), "text/html") };
  } catch (error) {
    if (error.name !== "AbortError") throw error;
    return null;
  } finally {
    if (request === own) document.body.classList.remove("is-busy");
  }
}
