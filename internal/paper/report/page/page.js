// What the page says is there without this: it opens what a link leads to, sorts and filters.
(() => {
  const open = () => {
    const at = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!at) return;
    for (let e = at; e; e = e.parentElement) if (e.tagName === 'DETAILS') e.open = true;
    if (!at.classList.contains('panel')) at.scrollIntoView();
    else at.querySelector('a').focus({ preventScroll: true });
  };
  addEventListener('hashchange', open);
  open();
  addEventListener('keydown', e => {
    const panel = e.key === 'Escape' && document.querySelector('.panel:target');
    if (!panel) return;
    const from = document.querySelector(`a[href="#${CSS.escape(panel.id)}"]`);
    panel.querySelector('.close').click();
    if (from) from.focus();
  });
  addEventListener('beforeprint', () => document.querySelectorAll('main > section details').forEach(d => { d.open = true; }));

  const value = cell => {
    if (!cell) return '';
    const data = cell.querySelector('data');
    if (data) return Number(data.value);
    const text = [...cell.childNodes].filter(n => !/check/.test(n.className || '')).map(n => n.textContent).join('').trim();
    const number = parseFloat(text.replace(/−/g, '-').replace(/[,+]/g, ''));
    return Number.isNaN(number) ? text : number;
  };
  const sorted = (rows, at, down) => rows.slice().sort((a, b) => {
    const [x, y] = [value(a.cells[at]), value(b.cells[at])];
    if (typeof x !== typeof y) return typeof x === 'number' ? -1 : 1; // numbers first, either way
    return (x < y ? -1 : x > y ? 1 : 0) * (down ? -1 : 1);
  });
  for (const table of document.querySelectorAll('table.data, table.sortable')) {
    const body = table.tBodies[0];
    const all = [...body.rows];
    const rows = all.filter(r => !r.classList.contains('section'));
    const heads = table.tHead ? [...table.tHead.rows[table.tHead.rows.length - 1].cells] : [];
    if (rows.length < 3) continue;
    heads.forEach((head, at) => {
      if (head.tagName !== 'TH') return;
      const button = document.createElement('button');
      button.type = 'button';
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener('click', () => {
        const was = head.getAttribute('aria-sort');
        const now = !was ? 'descending' : was === 'descending' ? 'ascending' : null;
        heads.forEach(h => h.removeAttribute('aria-sort'));
        table.classList.toggle('sorted', !!now);
        if (now) head.setAttribute('aria-sort', now);
        body.replaceChildren(...(now ? sorted(rows, at, now === 'descending') : all));
      });
    });
  }
  const filter = (before, what, entries, text, show) => {
    if (entries.length < 10) return;
    const label = document.createElement('label');
    label.className = 'filter';
    const input = document.createElement('input');
    input.type = 'search';
    label.append('Filter ' + what + ' ', input);
    before.before(label);
    input.addEventListener('input', () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      for (const e of entries) show(e, words.every(w => text(e).toLowerCase().includes(w)), words.length > 0);
    });
  };
  for (const table of document.querySelectorAll('table.data, table.sortable')) {
    filter(table.closest('.scroll'), 'rows', [...table.tBodies[0].rows].filter(r => !r.classList.contains('section')), r => r.textContent,
      (r, hit, asked) => { r.hidden = !hit; table.classList.toggle('filtered', asked); });
  }
  const blocks = document.getElementById('by-block');
  filter(blocks, 'steps', [...blocks.querySelectorAll('.step')], s => s.querySelector('summary').textContent, (s, hit, asked) => {
    s.hidden = !hit;
    const block = s.closest('.block');
    block.hidden = asked && !block.querySelector('.step:not([hidden])');
    block.open = asked && !block.hidden;
  });
})();
