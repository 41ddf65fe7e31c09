"""Pictures as small as they can be and look the same: a page that holds all of them opens at once.

What readers of a screen and the program that drew the picture need is left out, coordinates have two decimals, and
words that are the same in every element stand once, at the top.
"""

import re

_LEFT_OUT = re.compile(
    r' (?:class|role|pointer-events|aria-[a-z]+|xmlns:xlink|version|stroke-miterlimit|opacity="1"|stroke-width="1")'
    r'(?:="[^"]*")?(?=[ />])'
)
_TAG = re.compile(r"<[^>]*>")
_NUMBER = re.compile(r"-?\d+\.\d{3,}")
_NOTHING = re.compile(
    r'<path[^>]*(?:display="none"|d="M0,0h0v0h0Z"|d="")[^>]*/>|<(g)>(?:</\1>)| transform="translate\(0,0\)"'
)
_FONT = re.compile(r' font-family="([^"]*)"')


def compact(picture: str) -> str:
    """Return the same picture in fewer letters."""
    fonts = _FONT.findall(picture)
    picture = _LEFT_OUT.sub("", picture)
    if fonts and len(set(fonts)) == 1:
        picture = _FONT.sub("", picture).replace("<svg ", f'<svg font-family="{fonts[0]}" ', 1)
    picture = _TAG.sub(lambda tag: _NUMBER.sub(_rounded, tag[0]), picture)  # words stand between tags
    while (smaller := _NOTHING.sub("", picture)) != picture:
        picture = smaller
    return picture


def as_address(picture: str) -> str:
    """Return a picture as an address that can stand in a page, between double quotes."""
    single = _TAG.sub(lambda tag: tag[0].replace("'", "&apos;").replace('"', "'"), picture)
    for letter in '%#&"<>':  # the first of them stands for all others
        single = single.replace(letter, f"%{ord(letter):02X}")
    return "data:image/svg+xml," + single


def _rounded(number: re.Match[str]) -> str:
    return f"{float(number[0]):.2f}".rstrip("0").rstrip(".")
