"""Print the register as Markdown: python -m discreet.reproductions.claims > docs/claims.md."""

from discreet.reproductions.claims.page import claims_page

print(claims_page(), end="")
