"use strict";
(function () {
  const body = document.body;
  const controls = document.querySelector(".controls");
  const slider = document.getElementById("slider");
  const shown = document.getElementById("shown");
  const play = document.getElementById("play");
  const steps = Array.from(document.querySelectorAll(".step"));
  const rows = Array.from(document.querySelectorAll(".whole .row"));
  const last = steps.length - 1;
  let timer = null;

  function show(number) {
    const at = Math.max(0, Math.min(last, number));
    slider.value = String(at);
    slider.setAttribute("aria-valuetext", "step " + at + " of " + last);
    shown.textContent = "step " + at + " of " + last;
    steps.forEach(function (step) { step.hidden = Number(step.dataset.step) !== at; });
    rows.forEach(function (row) { row.classList.toggle("later", Number(row.dataset.step) > at); });
    if (at === last) { stop(); }
  }
  function stop() {
    if (timer !== null) { clearInterval(timer); timer = null; }
    play.textContent = "Play";
  }
  function toggle() {
    if (timer !== null) { stop(); return; }
    if (Number(slider.value) === last) { show(0); }
    play.textContent = "Pause";
    timer = setInterval(function () { show(Number(slider.value) + 1); }, 1600);
  }
  function go(number) { stop(); show(number); }

  slider.addEventListener("input", function () { go(Number(slider.value)); });
  document.getElementById("first").addEventListener("click", function () { go(0); });
  document.getElementById("back").addEventListener("click", function () { go(Number(slider.value) - 1); });
  document.getElementById("next").addEventListener("click", function () { go(Number(slider.value) + 1); });
  document.getElementById("last").addEventListener("click", function () { go(last); });
  play.addEventListener("click", toggle);
  document.addEventListener("keydown", function (event) {
    if (event.target === slider || event.ctrlKey || event.altKey || event.metaKey) { return; }
    if (event.key === "ArrowRight") { go(Number(slider.value) + 1); }
    else if (event.key === "ArrowLeft") { go(Number(slider.value) - 1); }
    else if (event.key === "Home") { go(0); }
    else if (event.key === "End") { go(last); }
    else if (event.key === " " && event.target === body) { toggle(); }
    else { return; }
    event.preventDefault();
  });

  controls.hidden = false;
  body.classList.add("stepping");
  show(0);
}());
