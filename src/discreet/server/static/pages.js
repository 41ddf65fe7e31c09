// Forms that only choose what is shown are sent when a choice changes.
for (const form of document.querySelectorAll("form.explore"))
  form.addEventListener("change", () => form.requestSubmit());
// A session that ended while a page was open: go and sign in.
document.addEventListener("htmx:responseError", (event) => {
  if (event.detail.xhr.status === 401) window.location.assign("/sign-in");
});
// A page that comes back from the browser's memory may be of a session that is over: ask again.
window.addEventListener("pageshow", (event) => {
  if (event.persisted) window.location.reload();
});
