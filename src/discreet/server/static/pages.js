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
// Epsilon by a slider, or from the precision that is wanted: both read the computed points of the curve.
const pointsOf = (curve) => curve.dataset.points.split(" ").map((each) => each.split(":").map(Number));
const take = (epsilon) => {
  const field = document.querySelector("#epsilon");
  field.value = String(Number(epsilon.toPrecision(2)));
  document.querySelector("#slid").value = field.value;
  field.dispatchEvent(new Event("change", { bubbles: true }));
};
const slid = (curve, share) => {
  const points = pointsOf(curve);
  const [first, last] = [points[0][0], points[points.length - 1][0]];
  return Number((first * (last / first) ** share).toPrecision(2));
};
const enough = (curve, wanted) => {
  const width = (2 * wanted) / (curve.dataset.share === "1" ? 100 : 1);
  const points = pointsOf(curve);
  const next = points.findIndex((each) => each[1] <= width);
  if (next <= 0) return points[next === 0 ? 0 : points.length - 1][0];
  const [[low, wide], [high, narrow]] = [points[next - 1], points[next]];
  return low * (high / low) ** ((wide - width) / (wide - narrow));
};
document.addEventListener("input", (event) => {
  const curve = event.target.closest?.(".curve");
  if (!curve) return;
  event.stopPropagation(); // nothing is planned before a choice is made
  if (event.target.id === "slide") document.querySelector("#slid").value = slid(curve, event.target.value / 100);
}, true);
document.addEventListener("change", (event) => {
  const curve = event.target.closest?.(".curve");
  if (!curve) return;
  event.stopPropagation();
  if (event.target.id === "slide") take(slid(curve, event.target.value / 100));
  const wanted = Number(event.target.value.replace(",", "."));
  if (event.target.id === "wanted" && wanted > 0) take(enough(curve, wanted));
}, true);
