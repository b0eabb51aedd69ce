/** The theme: the system's, or what the reader chose here before. */
{
  const names = { "": "system", light: "light", dark: "dark" };
  const order = Object.keys(names);
  const button = document.getElementById("theme");
  // A page opened as a file may have no storage.
  const stored = (act) => {
    try {
      return act(localStorage);
    } catch {
      return null;
    }
  };
  const apply = (theme) => {
    if (theme) document.documentElement.dataset.theme = theme;
    else delete document.documentElement.dataset.theme;
    button.textContent = `Theme: ${names[theme]}`;
  };
  let chosen = stored((storage) => storage.getItem("schedgap-theme")) || "";
  if (!(chosen in names)) chosen = "";
  button.hidden = false;
  button.addEventListener("click", () => {
    chosen = order[(order.indexOf(chosen) + 1) % order.length];
    stored((storage) => storage.setItem("schedgap-theme", chosen));
    apply(chosen);
  });
  apply(chosen);
}

{
  const button = document.getElementById("copy");
  if (button && navigator.clipboard) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(document.getElementById("command").textContent);
        button.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(document.getElementById("command"));
        button.textContent = "Selected";
      }
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
  }
}
