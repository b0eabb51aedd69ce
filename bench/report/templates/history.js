/** The entries of a history: a click on a point goes to its entry. */

function openInstance(number) {
  const row = document.getElementById(`entry${number}`);
  row.querySelector("th").tabIndex = -1;
  row.querySelector("th").focus();
  row.scrollIntoView({ block: "center" });
}
