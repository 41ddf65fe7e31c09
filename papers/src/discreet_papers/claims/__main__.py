"""Print the register as Markdown: python -m discreet_papers.claims > docs/claims.md."""

from discreet_papers.claims.page import claims_page

print(claims_page(), end="")
