"use strict";
// A link to a row opens its excerpt too.
function openTarget() {
  const row = document.getElementById(location.hash.slice(1));
  const details = row && row.querySelector("details");
  if (details) {
    details.open = true;
    row.scrollIntoView();
  }
}
addEventListener("hashchange", openTarget);
openTarget();
