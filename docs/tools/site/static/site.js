// Formulas are typeset by KaTeX.
for (const formula of document.querySelectorAll(".formula")) {
  katex.render(formula.textContent, formula, {displayMode: formula.matches(".displayed"), throwOnError: false});
}
