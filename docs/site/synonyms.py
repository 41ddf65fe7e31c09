"""Words that people search for, and the pages that answer them although they may not use these words."""

from collections.abc import Mapping

SYNONYMS: Mapping[str, tuple[str, ...]] = {
    "start": ("publish", "install", "installation", "quick start", "quickstart", "getting started", "hello world"),
    "choosing-epsilon": (
        *("epsilon", "privacy budget", "privacy loss", "budget", "which epsilon", "how much epsilon", "risk"),
    ),
    "concepts": ("differential privacy", "what is differential privacy", "noise", "sensitivity", "neighbours"),
    "coming-from": ("opendp", "diffprivlib", "smartnoise", "tumult", "migrate", "pydp"),
    "comparison": ("alternatives", "k-anonymity", "l-diversity", "statistical disclosure control", "suppression"),
    "planning": ("how much noise", "how accurate", "accuracy", "power analysis", "sample size", "expected width"),
    "cookbook/proportion": ("percentage", "share", "prevalence", "rate"),
    "cookbook/mean": ("average", "mean", "total", "sum"),
    "cookbook/incomes": ("median", "quantile", "percentile", "income", "distribution of a number"),
    "cookbook/sparse-table": ("contingency table", "cross tabulation", "crosstab", "pivot table"),
    "cookbook/small-groups": ("small area estimation", "partial pooling", "hierarchical model", "shrinkage"),
    "cookbook/classifier": ("naive bayes", "machine learning", "prediction", "classification"),
    "cookbook/network": ("graphical model", "causal graph"),
    "cookbook/linear-regression": ("ols", "least squares", "linear model"),
    "cookbook/logistic-regression": ("odds ratio", "logit"),
    "cookbook/synthetic-records": ("synthetic data", "fake data", "test data", "anonymise", "anonymize"),
    "cookbook/every-quarter": ("time series", "monthly", "continual release", "dashboard"),
    "cookbook/several-rows": ("user level privacy", "repeated measurements", "panel data", "one person many rows"),
    "cookbook/two-hospitals": ("meta-analysis", "federated", "several sites"),
    "cookbook/derived": ("recode", "postgres", "postgresql", "sql", "database", "computed column"),
    "studies": ("missing values", "parquet", "csv", "toml", "configuration", "dates"),
    "reading-a-release": (
        "infer",
        "confidence interval",
        "credible interval",
        "error bars",
        "standard error",
        "posterior",
    ),
    "calibration": ("coverage", "are the intervals right", "simulation study"),
    "checking": ("proof", "certificate", "verify"),
    "threat-model": ("attack", "attacker", "security", "trust", "reconstruction", "membership inference"),
    "ledger": ("audit trail", "how much is spent", "accounting", "ran out of budget"),
    "composition": ("zcdp", "renyi", "advanced composition", "rho", "delta"),
    "serving-stewards": (
        "approve",
        "decide",
        "invite",
        "password reset",
        "reset password",
        "lost password",
        "accounts",
    ),
    "serving-analysts": ("ask a question", "api", "token", "client"),
    "serving-operating": ("deploy", "nginx", "docker", "container", "systemd", "backup", "upgrade"),
    "spark": ("databricks", "big data", "warehouse"),
    "glossary": ("words", "terms", "vocabulary"),
    "policies": ("version", "semantic versioning", "deprecation", "cite", "citation"),
}


def index_entries(page: str) -> str:
    """Return entries of the index for a page; the search puts pages that are named so before all others."""
    words = SYNONYMS.get(page, ())
    return "\n\n```{index} " + ", ".join(f"! {word}" for word in words) + "\n```\n" if words else ""
