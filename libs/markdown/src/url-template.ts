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
  return template.replace(EXPRESSION, (_whole, symbol: string, list: string) => {
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
  });
}

function encode(text: string, { keepReserved }: Operator): string {
  const wellFormed = text.toWellFormed();
  if (keepReserved) return encodeURI(wellFormed).replaceAll('%5B', '[').replaceAll('%5D', ']');
  return encodeURIComponent(wellFormed).replace(/[!'()*]/g, (ch) => `%${ch.charCodeAt(0).toString(16).toUpperCase()}`);
}
