const EXPRESSION = /\{([+#./;?&]?)([^{}]*)\}/g;

interface Operator {
  first: string;
  separator: string;
  named: boolean;
  keepReserved: boolean;
}

const SIMPLE: Operator = { first: '', separator: ',', named: false, keepReserved: false };
const OPERATORS: Record<string, Operator> = {
  '+': { first: '', separator: ',', named: false, keepReserved: true },
  '#': { first: '#', separator: ',', named: false, keepReserved: true },
  '.': { first: '.', separator: '.', named: false, keepReserved: false },
  '/': { first: '/', separator: '/', named: false, keepReserved: false },
  ';': { first: ';', separator: ';', named: true, keepReserved: false },
  '?': { first: '?', separator: '&', named: true, keepReserved: false },
  '&': { first: '&', separator: '&', named: true, keepReserved: false },
};

/** RFC 6570 with string values only. */
export function expandTemplate(template: string, values: Map<string, string>): string {
  let at = 0;
  let url = '';
  for (const { 0: whole, 1: symbol = '', 2: list = '', index } of template.matchAll(EXPRESSION)) {
    url += encodeReserved(template.slice(at, index)) + expand(symbol, list, values);
    at = index + whole.length;
  }
  return url + encodeReserved(template.slice(at));
}

function expand(symbol: string, list: string, values: Map<string, string>): string {
  const operator = OPERATORS[symbol] ?? SIMPLE;
  const parts = list.split(',').flatMap((variable) => {
    const [name = '', length] = variable.trim().replace(/\*$/, '').split(':');
    const value = values.get(name);
    if (value === undefined) return [];
    const text = encode(length === undefined ? value : [...value].slice(0, Number(length)).join(''), operator);
    if (!operator.named) return [text];
    return [text === '' && operator.separator === ';' ? name : `${name}=${text}`];
  });
  return parts.length === 0 ? '' : operator.first + parts.join(operator.separator);
}

function encode(text: string, { keepReserved }: Operator): string {
  if (keepReserved) return encodeReserved(text);
  return encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (ch) => `%${ch.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** Keeps characters with a meaning in an address, and what is percent-encoded already. */
const encodeReserved = (text: string): string =>
  encodeURI(text.toWellFormed())
    .replaceAll('%5B', '[')
    .replaceAll('%5D', ']')
    .replace(/%25([0-9a-f]{2})/gi, '%$1');
