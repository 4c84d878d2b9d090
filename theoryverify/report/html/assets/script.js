"use strict";
// The page is whole without this: it adds the theme switch, filters, zoom, and unfolding for print.
(() => {
  const root = document.documentElement;
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const byId = (id) => document.getElementById(id);
  root.classList.add("js");

  // Theme: the system's, until the reader says otherwise. Storage may be refused on local files.
  const remembered = {
    get() { try { return localStorage.getItem("theoryverify-theme"); } catch { return null; } },
    set(value) { try { localStorage.setItem("theoryverify-theme", value); } catch { /* not kept */ } },
  };
  const themes = ["system", "light", "dark"];
  const button = byId("theme");
  const dress = (theme) => {
    if (theme === "system") root.removeAttribute("data-theme");
    else root.setAttribute("data-theme", theme);
    button.textContent = "Theme: " + theme;
  };
  let theme = themes.includes(remembered.get()) ? remembered.get() : "system";
  dress(theme);
  button.addEventListener("click", () => {
    theme = themes[(themes.indexOf(theme) + 1) % themes.length];
    remembered.set(theme);
    dress(theme);
  });

  // Filters.
  const claims = all(".claim");
  const words = new Map(claims.map((claim) => [
    claim, all("h4, .place", claim).map((part) => part.textContent).join(" ").toLowerCase(),
  ]));
  const nodes = new Map(all(".node").map((node) => ["claim-" + node.dataset.id, node]));
  const sieve = () => {
    const text = byId("find").value.trim().toLowerCase();
    const verdict = byId("verdict").value;
    const rung = byId("rung").value;
    let count = 0;
    for (const claim of claims) {
      const fits = words.get(claim).includes(text)
        && (!rung || claim.dataset.rung === rung)
        && (!verdict || (verdict === "!" ? claim.dataset.expected === "no" : claim.dataset.verdict === verdict));
      claim.hidden = !fits;
      nodes.get(claim.id)?.classList.toggle("dim", !fits);
      count += fits;
    }
    byId("shown").textContent = count === claims.length ? "" : `${count} of ${claims.length}`;
  };
  for (const id of ["find", "verdict", "rung"]) byId(id).addEventListener("input", sieve);

  // A link to a claim that a filter hides shows it again.
  const reveal = () => {
    const target = byId(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    if (target.hidden) {
      for (const id of ["find", "verdict", "rung"]) byId(id).value = "";
      sieve();
    }
    if (target.tagName === "DETAILS") target.open = true;
    target.scrollIntoView();
  };
  addEventListener("hashchange", reveal);

  // Unfolding.
  const folds = all("details.check, details.derivation, details.index");
  const unfold = byId("unfold");
  unfold.addEventListener("click", () => {
    const open = unfold.getAttribute("aria-pressed") !== "true";
    unfold.setAttribute("aria-pressed", String(open));
    unfold.textContent = open ? "Close all checks" : "Open all checks";
    for (const fold of folds) fold.open = open;
  });
  let before = [];
  addEventListener("beforeprint", () => {
    before = folds.filter((fold) => !fold.open);  // long lists stay as the reader left them
    for (const fold of before) fold.open = true;
  });
  addEventListener("afterprint", () => { for (const fold of before) fold.open = false; });

  // The graph: zoom by buttons or + - 0; a node under the pointer or the focus lights its edges.
  for (const box of all(".graphbox")) {
    const canvas = box.querySelector(".canvas");
    const graph = box.querySelector(".graph");
    const natural = Number(graph.getAttribute("width"));
    let width = Math.max(natural, canvas.clientWidth);
    const zoom = (way) => {
      const fitting = canvas.clientWidth;
      width = way === "fit" ? fitting : Math.min(8 * natural, Math.max(natural / 4, width * (way === "in" ? 1.25 : 0.8)));
      graph.style.minWidth = "0";
      graph.style.width = `${Math.round(width)}px`;
    };
    for (const item of all("[data-zoom]", box)) item.addEventListener("click", () => zoom(item.dataset.zoom));
    canvas.addEventListener("keydown", (event) => {
      const way = { "+": "in", "=": "in", "-": "out", "0": "fit" }[event.key];
      if (!way || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      zoom(way);
    });
    const edges = all(".edges path", box);
    const light = (id) => {
      for (const edge of edges) edge.classList.toggle("lit", edge.dataset.from === id || edge.dataset.to === id);
    };
    for (const node of all(".node", box)) {
      for (const event of ["pointerenter", "focus"]) node.addEventListener(event, () => light(node.dataset.id));
      for (const event of ["pointerleave", "blur"]) node.addEventListener(event, () => light(null));
    }
  }

  // What scrolls sideways can be reached by keyboard, and nothing else becomes a stop.
  const stops = () => {
    for (const part of all(".statement, .scroll, .condition")) {
      if (part.scrollWidth > part.clientWidth + 1) {
        part.tabIndex = 0;
        part.setAttribute("role", "region");
        part.setAttribute("aria-label", "scrollable");
      } else if (part.hasAttribute("tabindex")) {
        for (const name of ["tabindex", "role", "aria-label"]) part.removeAttribute(name);
      }
    }
  };
  stops();
  addEventListener("resize", stops);
  for (const fold of all("details")) fold.addEventListener("toggle", stops);
  if (location.hash) reveal();
})();
