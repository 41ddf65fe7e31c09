/* How the search ranks: guides before names of the library, and both before pages about pages. */
var Scorer = {
  score: ([page, , , , score, , kind]) => {
    if (kind === "index") return score + 100;
    if (/^(start|tutorial|concepts|choosing-epsilon)$|^cookbook\//.test(page)) return score + 30;
    if (page.startsWith("reference/")) return score - 40;
    if (/^(changelog|claims|papers|internals\/|mechanisms\/|hellinger-draws)/.test(page)) return score - 20;
    return score + 20;
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
