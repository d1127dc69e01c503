// @ts-check
/** The documentation in a browser: search, languages of samples, and requests with the key of the reader. */

/**
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Record<string, string>} attributes
 * @param {(string | Node)[]} content
 * @returns {HTMLElementTagNameMap[T]}
 */
function element(tag, attributes = {}, ...content) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...content);
  return made;
}

/** @param {string} text @param {() => void} onClick */
function button(text, onClick) {
  const made = element('button', { type: 'button' }, text);
  made.addEventListener('click', onClick);
  return made;
}

const header = /** @type {HTMLElement} */ (document.querySelector('header'));
const canTry = 'canTry' in document.body.dataset;

/** @type {Promise<[title: string, detail: string, address: string, words: string][]> | undefined} */
let entries;
function searchEntries() {
  entries ??= fetch(document.body.dataset.search ?? '').then((response) => response.json());
  return entries;
}

/** The best 20 entries that contain every word; those that have all of them in the title come first. */
async function find(/** @type {string} */ text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  return (await searchEntries())
    .map((entry) => {
      const title = entry[0].toLowerCase();
      const all = `${title} ${entry[1]} ${entry[3]}`.toLowerCase();
      if (!words.every((word) => all.includes(word))) return { entry, rank: -1 };
      return { entry, rank: words.filter((word) => title.includes(word)).length };
    })
    .filter(({ rank }) => rank >= 0)
    .sort((one, other) => other.rank - one.rank)
    .slice(0, 20)
    .map(({ entry }) => entry);
}

function addSearch() {
  const input = element('input', { type: 'search', 'aria-label': 'Search', placeholder: 'Search ( / )' });
  const results = element('ul', { class: 'results', 'aria-label': 'Results' });
  const count = element('p', { role: 'status', class: 'refused' });
  const close = () => {
    results.hidden = true;
    count.hidden = true;
  };
  close();
  const form = element('form', { role: 'search', class: 'search' }, input, results, count);
  header.append(form);
  const show = async () => {
    const asked = input.value;
    const found = await find(asked);
    if (input.value !== asked) return;
    results.replaceChildren(
      ...found.map(([title, detail, address]) =>
        element('li', {}, element('a', { href: address }, title, element('span', {}, detail))),
      ),
    );
    results.hidden = found.length === 0;
    count.hidden = found.length > 0 || asked.trim() === '';
    count.textContent = count.hidden ? '' : 'Nothing was found.';
  };
  input.addEventListener('input', show);
  input.addEventListener('focus', show);
  results.addEventListener('click', close);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    results.querySelector('a')?.click();
  });
  form.addEventListener('keydown', ({ key }) => {
    if (key === 'Escape') close();
  });
  form.addEventListener('focusout', ({ relatedTarget }) => {
    if (!form.contains(/** @type {Node | null} */ (relatedTarget))) close();
  });
  document.addEventListener('keydown', (event) => {
    if (event.key !== '/' || /** @type {HTMLElement} */ (event.target).closest('input, textarea, select')) return;
    event.preventDefault();
    input.focus();
  });
}

/** On narrow screens the contents are closed until they are asked for. */
function addMenu() {
  const contents = /** @type {HTMLElement} */ (document.querySelector('nav'));
  const menu = button('Contents', () => {
    const isClosed = contents.classList.toggle('closed');
    menu.setAttribute('aria-expanded', String(!isClosed));
  });
  menu.className = 'menu';
  menu.setAttribute('aria-controls', 'contents');
  menu.setAttribute('aria-expanded', 'false');
  contents.classList.add('closed');
  header.append(menu);
}

/** @type {(() => void)[]} */
const onLanguage = [];
/** The language is the same for all samples and pages. */
function addLanguages(/** @type {HTMLElement} */ samples) {
  const parts = [...samples.querySelectorAll('[data-language]')].filter((part) => part instanceof HTMLElement);
  const group = element('div', { class: 'languages', role: 'group', 'aria-label': 'Language of the sample' });
  const names = parts.map((part) => part.dataset.language ?? '');
  const buttons = names.map((name) =>
    button(name, () => {
      localStorage.setItem('natter-docs-language', name);
      for (const update of onLanguage) update();
    }),
  );
  group.append(...buttons);
  samples.prepend(group);
  samples.classList.add('chosen');
  const update = () => {
    const wanted = localStorage.getItem('natter-docs-language') ?? '';
    const chosen = names.includes(wanted) ? wanted : names[0];
    parts.forEach((part, i) => {
      part.hidden = names[i] !== chosen;
      buttons[i]?.setAttribute('aria-pressed', String(!part.hidden));
    });
  };
  onLanguage.push(update);
  update();
}

const stored = 'natter-docs-account';
/** @returns {{ email: string, key: string } | undefined} */
function account() {
  const text = sessionStorage.getItem(stored);
  return text === null ? undefined : JSON.parse(text);
}

/** The key stays in this tab: the browser forgets it when the tab is closed. */
function addAccount() {
  const email = element('input', { type: 'email', autocomplete: 'off', required: '' });
  const key = element('input', { type: 'password', autocomplete: 'off', required: '' });
  const form = element(
    'form',
    { class: 'account' },
    element('p', {}, 'Requests that you try from these pages use this key. This tab keeps it until it is closed.'),
    element('label', {}, 'Email address', email),
    element('label', {}, 'API key', key),
  );
  const name = () => {
    toggle.textContent = account()?.email ?? 'API key';
  };
  const toggle = button('', () => {
    form.hidden = !form.hidden;
    toggle.setAttribute('aria-expanded', String(!form.hidden));
    if (!form.hidden) email.focus();
  });
  const forget = button('Forget', () => {
    sessionStorage.removeItem(stored);
    form.reset();
    name();
  });
  form.append(element('div', { class: 'buttons' }, element('button', {}, 'Use'), forget));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    sessionStorage.setItem(stored, JSON.stringify({ email: email.value.trim(), key: key.value.trim() }));
    form.reset();
    form.hidden = true;
    toggle.setAttribute('aria-expanded', 'false');
    name();
    toggle.focus();
  });
  form.hidden = true;
  toggle.setAttribute('aria-expanded', 'false');
  name();
  header.append(toggle, form);
}

/** @typedef {{ name: string, place: string, kind: string, control: HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement }} Field */

/** @returns {Field} */
function fieldOf(/** @type {HTMLElement} */ { dataset }) {
  const { name = '', in: place = '', kind = '' } = dataset;
  const required = 'required' in dataset ? { required: '' } : {};
  const options = () => ['', 'true', 'false'].map((value) => element('option', { value }, value));
  const control =
    kind === 'boolean'
      ? element('select', required, ...options())
      : kind === 'json'
        ? element('textarea', { rows: '2', ...required })
        : element('input', { type: kind === 'file' ? 'file' : 'text', ...required });
  return { name, place, kind, control };
}

/** @param {string} method @param {string} path @param {Field[]} fields @returns {[string, RequestInit]} */
function requestOf(method, path, fields) {
  /** @type {Record<string, string>} */
  const headers = {};
  const known = account();
  if (known) {
    const bytes = new TextEncoder().encode(`${known.email}:${known.key}`);
    headers.authorization = `Basic ${btoa(String.fromCharCode(...bytes))}`;
  }
  const hasFile = fields.some(({ kind }) => kind === 'file');
  const body = hasFile ? new FormData() : new URLSearchParams();
  let url = `/api/v1${path}`;
  for (const { name, place, control } of fields) {
    const file = control instanceof HTMLInputElement ? control.files?.[0] : undefined;
    if (file && body instanceof FormData) body.append(name, file);
    else if (place === 'path') url = url.replace(`{${name}}`, encodeURIComponent(control.value));
    else if (control.value !== '') body.append(name, control.value);
  }
  if (method === 'GET') return [`${url}?${body}`, { headers, credentials: 'omit' }];
  return [url, { method, headers, body, credentials: 'omit' }];
}

/** @param {string} text */
function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2).slice(0, 200_000);
  } catch {
    return text.slice(0, 200_000);
  }
}

/** A form that sends the request which a section describes, and shows the answer. */
function formOf(/** @type {HTMLElement} */ section) {
  const { method = 'GET', path = '' } = section.dataset;
  const rows = [...section.querySelectorAll('tr[data-name]')].filter((row) => row instanceof HTMLElement);
  const fields = rows.map(fieldOf);
  const status = element('p', { role: 'status' });
  const answer = element('pre', { tabindex: '0', 'aria-label': 'Answer' });
  answer.hidden = true;
  const form = element(
    'form',
    { class: 'try', 'aria-label': `${method} ${path}` },
    ...(method === 'GET' ? [] : [element('p', {}, 'The request changes data on this server.')]),
    ...fields.map(({ name, control }) => element('label', {}, name, control)),
  );
  /** @type {AbortController | undefined} */
  let sending;
  const cancel = button('Cancel', () => sending?.abort());
  cancel.hidden = true;
  form.append(element('div', { class: 'buttons' }, element('button', {}, 'Send'), cancel), status, answer);
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    sending?.abort();
    const own = new AbortController();
    sending = own;
    cancel.hidden = false;
    answer.hidden = true;
    status.textContent = 'Sending …';
    status.className = '';
    try {
      const [url, init] = requestOf(method, path, fields);
      const response = await fetch(url, { ...init, signal: own.signal });
      const text = await response.text();
      status.textContent = `Status ${response.status}`;
      status.className = response.ok ? '' : 'refused';
      answer.textContent = pretty(text);
      answer.hidden = false;
    } catch (error) {
      if (sending === own) status.textContent = own.signal.aborted ? 'Cancelled.' : `No answer: ${error}`;
    }
    if (sending === own) cancel.hidden = true;
  });
  return form;
}

function addTry(/** @type {HTMLElement} */ section) {
  /** @type {HTMLFormElement | undefined} */
  let form;
  const toggle = button('Try it', () => {
    if (form) form.hidden = !form.hidden;
    else {
      form = formOf(section);
      toggle.after(form);
    }
    toggle.setAttribute('aria-expanded', String(!form.hidden));
  });
  toggle.setAttribute('aria-expanded', 'false');
  section.querySelector('.samples')?.before(toggle);
}

addMenu();
addSearch();
for (const samples of document.querySelectorAll('.samples')) addLanguages(/** @type {HTMLElement} */ (samples));
if (canTry) {
  addAccount();
  for (const section of document.querySelectorAll('section[data-can-try]'))
    addTry(/** @type {HTMLElement} */ (section));
}
