import { badRequest } from '@natter/contracts';

const expression = /\{([+#./;?&]?)([^{}]*)\}/g;
const variable = /^[A-Za-z0-9_]+(\.[A-Za-z0-9_]+)*(:[1-9]\d{0,3}|\*)?$/;

/** Names of the variables of an RFC 6570 template; refuses an invalid one. */
export function templateVariables(template: string): Set<string> {
  const names = new Set<string>();
  const rest = template.replace(expression, (_, __, list: string) => {
    for (const part of list.split(',')) {
      if (!variable.test(part)) throw badRequest('Invalid URL template.');
      names.add(part.replace(/(:\d+|\*)$/, ''));
    }
    return '';
  });
  if (template === '' || /[{}\s]/.test(rest)) throw badRequest('Invalid URL template.');
  return names;
}
