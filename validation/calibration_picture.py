"""The picture of docs/calibration.md: how often four kinds of intervals held the shares of fixed tables.

    python validation/calibration_picture.py

It is drawn from validation/calibration.json, as the tables of the page are.
"""

import json

from calibration_page import COLLECTED, PAGE, READINGS

from discreet.report.charts import render

PICTURE = PAGE.parent / "images" / "calibration.svg"
WORDS = {
    "plug-in": "noisy counts taken as true",
    "D1": "prior of 1 in every cell",
    "learnt": "prior learnt, all cells together",
    "own": "what infer does",
}


def main() -> None:
    """Draw a dot for each table and kind of interval, and a line at the promised 90 %."""
    results = json.loads(COLLECTED.read_text("utf-8"))["fixed truths"]
    rows = [
        {"kind": WORDS[name], "table": entry["setting"], "share": entry[name]["margins"][0] / entry[name]["margins"][1]}
        for entry in results
        for name in READINGS
        if name in entry
    ]
    kinds = {"field": "kind", "type": "nominal", "sort": list(WORDS.values()), "title": None}
    share = {"field": "share", "type": "quantitative", "scale": {"domain": [0, 1]}, "axis": {"format": ".0%"}}
    title = f"intervals that hold the true share, in each of {len(results)} tables"
    blue = {"condition": {"test": f"datum.kind === '{WORDS['own']}'", "value": "#0072b2"}, "value": "#767676"}
    picture = {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "title": {"text": "How often 90 % intervals hold", "anchor": "start"},
        "width": 460,
        "height": {"step": 34},
        "data": {"values": rows},
        "layer": [
            {"data": {"values": [{"promised": 0.9}]}, "mark": {"type": "rule", "color": "#d55e00", "size": 2},
             "encoding": {"x": {"field": "promised", "type": "quantitative"}}},
            {"mark": {"type": "circle", "size": 70, "opacity": 0.75},
             "encoding": {
                 "x": share | {"title": title},
                 "y": kinds | {"axis": {"labelLimit": 240}},
                 "color": blue,
             }},
        ],
        "config": {"font": "sans-serif", "view": {"stroke": None}, "background": "white"},
    }  # fmt: skip
    render(picture, PICTURE)


if __name__ == "__main__":
    main()
