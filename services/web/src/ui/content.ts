import { t } from '../text/text.ts';
import { copy } from './clipboard.ts';
import { dateLanguage } from './dates.ts';
import { formulaValue } from './formula.ts';
import { isOwnPicture } from './own-picture.ts';
import { markPictures } from './pictures.ts';

/** Elements that the server never sends; the policy of the page would stop them, too. */
const forbidden = 'script,style,iframe,object,embed,form,base,meta,link,template,.katex-html';
const styleAttribute = /(<[a-z][^\s>/]*(?:\s+[^\s=>]+(?:="[^"]*")?)*?\s+)style=(?="[^"]*")/gi;

/**
 * The elements of a rendered message. The server sanitises; this function additionally removes all active content, and sets
 * styles by script, because the policy of the page permits no style attributes.
 */
export function contentOf(html: string): DocumentFragment {
  const text = html.replace(styleAttribute, '$1data-style=');
  const parsed = new DOMParser().parseFromString(text, 'text/html');
  for (const element of parsed.querySelectorAll(forbidden)) element.remove();
  for (const link of parsed.querySelectorAll<HTMLElement>('.message_embed_image')) showPageImage(link);
  for (const element of parsed.body.querySelectorAll<HTMLElement>('*')) clean(element);
  for (const formula of parsed.querySelectorAll('math')) cleanFormula(formula);
  for (const element of parsed.querySelectorAll('.emoji')) showEmoji(element);
  for (const time of parsed.querySelectorAll('time')) showTime(time);
  for (const block of parsed.querySelectorAll('.spoiler-block')) block.replaceWith(foldable(block));
  for (const part of parsed.querySelectorAll('.highlight_text_inserted, .highlight_text_deleted'))
    part.replaceWith(changed(part));
  for (const block of parsed.querySelectorAll('pre')) block.setAttribute('tabindex', '0');
  for (const block of parsed.querySelectorAll('.codehilite')) addCopyButton(block);
  const fragment = document.createDocumentFragment();
  fragment.append(...document.adoptNode(parsed.body).childNodes);
  markPictures(fragment);
  for (const element of fragment.querySelectorAll<HTMLElement>('[data-style]')) {
    element.style.textAlign = /text-align:\s*(left|center|right)/.exec(element.dataset.style ?? '')?.[1] ?? '';
    delete element.dataset.style;
  }
  return fragment;
}

/** The image of a page is an element, because the policy of the page permits no style. The title has the same link. */
function showPageImage(link: HTMLElement): void {
  const image = document.createElement('img');
  image.src = /url\("([^"]*)"\)/.exec(link.dataset.style ?? '')?.[1] ?? '';
  image.alt = '';
  link.tabIndex = -1;
  link.ariaHidden = 'true';
  link.replaceChildren(image);
  delete link.dataset.style;
}

function clean(element: HTMLElement): void {
  for (const { name, value } of [...element.attributes]) {
    const isAddress = name === 'href' || name === 'src' || name === 'action' || name === 'formaction';
    const acts = name.startsWith('on') || name === 'srcdoc' || name === 'style' || name === 'id';
    if (acts || (isAddress && !isHarmless(value))) element.removeAttribute(name);
  }
  if (element instanceof HTMLAnchorElement && !/^\/?#narrow\//.test(element.getAttribute('href') ?? '')) {
    element.target = '_blank';
    element.rel = 'noopener noreferrer';
  }
  if (element instanceof HTMLImageElement) {
    element.loading = 'lazy';
    // A picture without description is content that its link names.
    if (!element.hasAttribute('alt')) element.alt = element.closest('a')?.getAttribute('href') ?? '';
    // Nothing is requested from other hosts.
    if (!isOwnPicture(element.getAttribute('src') ?? '')) element.removeAttribute('src');
  }
}

function cleanFormula(formula: Element): void {
  for (const element of formula.querySelectorAll('*'))
    for (const { name, value } of [...element.attributes]) {
      const isResized = element.parentElement?.closest('[mathsize]') != null;
      const kept = formulaValue(name, value, { tag: element.localName, isResized });
      if (kept === undefined) element.removeAttribute(name);
      else if (kept !== value) element.setAttribute(name, kept);
    }
}

function isHarmless(address: string): boolean {
  if (!URL.canParse(address, location.origin)) return false;
  const { protocol } = new URL(address, location.origin);
  return ['http:', 'https:', 'mailto:', 'tel:', 'ftp:', 'xmpp:', 'magnet:'].includes(protocol);
}

function showEmoji(element: Element): void {
  const codes = [...element.classList].find((name) => /^emoji-[0-9a-f-]+$/.test(name))?.slice(6);
  const points = (codes ?? '').split('-').map((code) => Number.parseInt(code, 16));
  if (points.every((point) => point <= 0x10ffff)) element.textContent = String.fromCodePoint(...points);
}

/** A spoiler is hidden until its header is activated. */
function foldable(block: Element): HTMLElement {
  const [header, content] = block.children;
  const summary = document.createElement('summary');
  summary.append(...((header?.querySelector('p') ?? header)?.childNodes ?? []));
  if (summary.textContent.trim() === '') summary.textContent = t('spoiler');
  const details = document.createElement('details');
  details.append(summary, ...(content?.childNodes ?? []));
  return details;
}

const copiedMs = 2_000;

function addCopyButton(block: Element): void {
  const code = block.querySelector('code');
  if (!code) return;
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy-code';
  button.textContent = t('copy');
  button.title = t('copyTheCode');
  button.addEventListener('click', () => {
    void copy(code.textContent).then(() => {
      button.textContent = t('copied');
      setTimeout(() => {
        button.textContent = t('copy');
      }, copiedMs);
    });
  });
  block.append(button);
}

/** A part of the difference of two versions. */
function changed(part: Element): HTMLElement {
  const element = document.createElement(part.matches('.highlight_text_inserted') ? 'ins' : 'del');
  element.append(...part.childNodes);
  return element;
}

function showTime(time: HTMLTimeElement): void {
  const date = new Date(time.dateTime);
  if (Number.isNaN(date.getTime())) return;
  time.textContent = new Intl.DateTimeFormat(dateLanguage(), { dateStyle: 'full', timeStyle: 'short' }).format(date);
}
