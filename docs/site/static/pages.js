/* A button on each block of code that copies it, without the prompts of a console. */
"use strict";

const withoutPrompts = (text) => {
  const lines = text.split("\n");
  if (!lines.some((line) => line.startsWith(">>> "))) return text;
  return lines
    .filter((line) => /^(>>>|\.\.\.)/.test(line))
    .map((line) => line.slice(4))
    .join("\n");
};

for (const block of document.querySelectorAll("div.highlight")) {
  const kind = block.parentElement.className;
  if (/highlight-(text|default|none)/.test(kind) && !block.querySelector(".gp")) continue;
  const button = document.createElement("button");
  button.className = "copy";
  button.type = "button";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    const text = withoutPrompts(block.querySelector("pre").innerText).trimEnd() + "\n";
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(block.querySelector("pre"));
      button.textContent = "Selected";
    }
    setTimeout(() => (button.textContent = "Copy"), 2000);
  });
  block.append(button);
}

/* What is wider than the window is scrolled with the arrow keys, too. */
for (const wide of document.querySelectorAll(".table-wrapper, div.highlight pre")) {
  if (wide.scrollWidth > wide.clientWidth) wide.tabIndex = 0;
}

/* What the theme leaves unsaid for those who listen to the page. */
document.querySelector(".sidebar-drawer")?.setAttribute("aria-label", "Pages");
document.querySelector(".toc-drawer")?.setAttribute("aria-label", "On this page");
for (const part of document.querySelectorAll("dt.sig dl, dt.sig dl dd")) part.setAttribute("role", "presentation");
