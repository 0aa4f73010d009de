// Formulas are typeset by KaTeX.
for (const formula of document.querySelectorAll(".formula")) {
  katex.render(formula.textContent, formula, {displayMode: formula.matches(".displayed"), throwOnError: false});
}

// A graph takes the place of its picture when the reader comes near, and is as light or dark as the page.
const tell = (frame) => frame.contentWindow.postMessage({dark: document.body.dataset.mdColorScheme === "slate"}, "*");
const near = new IntersectionObserver((entries) => {
  for (const {isIntersecting, target} of entries) {
    if (!isIntersecting) continue;
    near.unobserve(target);
    const frame = document.createElement("iframe"), picture = target.querySelector("img");
    frame.className = "coming";
    frame.title = picture.alt;
    frame.style.height = `${Math.min(Math.max(1.4 * picture.height + 160, 520), 760)}px`;
    frame.addEventListener("load", () => {
      frame.className = "";
      target.querySelector("a").hidden = true;  // moved, a frame would load once more
      tell(frame);
    });
    frame.src = target.dataset.page;
    target.append(frame);
  }
}, {rootMargin: "300px"});
for (const graph of document.querySelectorAll(".live")) near.observe(graph);
new MutationObserver(() => document.querySelectorAll(".live iframe").forEach(tell))
  .observe(document.body, {attributeFilter: ["data-md-color-scheme"]});

// The theme unfolds every answer on paper: those that the reader left folded stay so (site.css).
addEventListener("beforeprint", () => {
  for (const answer of document.querySelectorAll("details")) answer.classList.toggle("folded", !answer.open);
}, {capture: true});
