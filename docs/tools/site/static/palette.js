// The site is as light or dark as the system until the reader chooses; the theme would keep what the first visit found.
{
  const chosen = "xgrad.palette_is_chosen", system = matchMedia("(prefers-color-scheme: dark)");
  const forget = () => Object.keys(localStorage).filter((key) => key.endsWith("__palette")).forEach((key) => localStorage.removeItem(key));
  if (!localStorage.getItem(chosen)) forget();
  let follows = false;
  system.addEventListener("change", () => {
    if (localStorage.getItem(chosen)) return;
    follows = true;
    document.querySelector(`[data-md-component=palette] input[data-md-color-scheme=${system.matches ? "slate" : "default"}]`).click();
    follows = false;
  });
  document.addEventListener("change", ({target}) => {
    if (!follows && target.matches("[data-md-component=palette] input")) localStorage.setItem(chosen, "yes");
  });
}
