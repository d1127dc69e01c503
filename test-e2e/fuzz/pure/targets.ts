/** Pure functions that take text from users, and the properties that must hold for any text. */
import { compileLinkifier, emptyContext, render } from '@natter/markdown/render';
import '@natter/markdown/load-heavy';
import { operations } from '@natter/contracts';
import { parseTime } from '../../../libs/markdown/src/parse-time.ts';
import { expandTemplate } from '../../../libs/markdown/src/url-template.ts';
import { isHost } from '../../../services/gateway/src/http/host.ts';
import { parseParams } from '../../../services/gateway/src/http/parse-params.ts';
import { decodeText, queryFieldsOf } from '../../../services/gateway/src/http/request-fields.ts';
import { createRouter } from '../../../services/gateway/src/routes/router.ts';
import { parseNarrow } from '../../../services/messaging/src/model/reading/narrow/narrow.ts';
import { termsOf } from '../../../services/messaging/src/model/reading/narrow/search-query.ts';
import { slowMarkup } from '../requests/hostile.ts';
import { requestTargets } from './request-targets.ts';
import type { Target } from './target.ts';

const router = createRouter(operations);
const take = operations.filter(({ http, params }) => http && Object.keys(params).length > 0);

const must = (holds: boolean, what: string): void => {
  if (!holds) throw new Error(what);
};

export const targets: Record<string, Target> = {
  ...requestTargets,
  render: {
    seeds: [
      'Hello **world**, see `code` and https://example.org/a?b=c',
      '@**Ann Lee|7** #**core>topic** :smile: #12',
      '* one\n  * two\n\n1. a\n\n> quote\n\n| a | b |\n|---|---|\n| 1 | 2 |',
      '```python\nx = 1\n```\n$$x^2$$\n```spoiler a\nb\n```',
      '<time:2026-01-01T10:00:00Z> ~~gone~~ ![](https://a.example/b.png)',
      ...slowMarkup.map((make) => make().slice(0, 300)),
    ],
    limitMs: 1_000,
    run(text) {
      const { html } = render(text.slice(0, 2_000), {
        ...emptyContext,
        realmUrl: 'https://chat.example',
        users: [{ id: 7, name: 'Ann Lee' }],
        channels: [{ id: 6, name: 'core' }],
        linkifiers: [{ id: 1, pattern: '#(?P<id>[0-9]+)', urlTemplate: 'https://bugs.example/{id}' }],
      });
      must(
        !/<script|<iframe|\son\w+=|href="(?:javascript|data|vbscript):/i.test(
          html
            .replace(/>[^<]*/g, '>')
            .replace(/"[^"]*"/g, (value) => (/^"\s*(?:javascript|data|vbscript):/i.test(value) ? value : '""')),
        ),
        'the HTML holds active content',
      );
    },
  },
  linkifier: {
    seeds: [
      '#(?P<id>[0-9]+)\n#12',
      '(a+)+$\naaaaaaaaaaaaaaaaaaaaab',
      '(?:(?:){1000}){1000}\nx',
      '[a-z]{2,5}|\\bq\\W\nab q',
      '(?i)(?<x>é)\\p{L}\né',
    ],
    limitMs: 1_000,
    run(text) {
      const at = text.indexOf('\n');
      const pattern = at < 0 ? text : text.slice(0, at);
      const matcher = compileLinkifier(pattern.slice(0, 1_000))?.matcher(text.slice(at + 1, at + 2_000));
      for (let count = 0; matcher && count < 100 && matcher.find(); count++);
    },
  },
  'url-template': {
    seeds: ['https://x.example/{id}', '{+a}{#b}{/c*}{;d:3}{?e,f}{&g}', '{{}}', '{a,b,c}'],
    limitMs: 500,
    run: (text) =>
      void expandTemplate(
        text,
        new Map([
          ['id', 'a b/ü'],
          ['a', text.slice(0, 50)],
        ]),
      ),
  },
  time: {
    seeds: ['2026-01-01T10:00:00Z', '2020-05-05', '1700000000', 'Jan 1 2020 10:00 pm', '2026-01-01T10:00:00+02:00'],
    limitMs: 500,
    run(text) {
      const found = parseTime(text);
      must(found === undefined || !Number.isNaN(found.getTime()), 'an invalid date');
    },
  },
  host: {
    seeds: ['chat.example.com', 'chat.example.com:8080', '[::1]:80', '127.0.0.1', 'a:80@b', 'xn--bcher-kva.example'],
    limitMs: 500,
    run(text) {
      // A host that the URL parser treats as an invalid IPv4 address belongs to no realm.
      if (!isHost(text) || !URL.canParse(`http://${text}`)) return;
      const url = new URL(`http://${text}`);
      must(
        url.username === '' && url.password === '' && url.pathname === '/' && url.search === '' && url.hash === '',
        'a host with more than host and port',
      );
    },
  },
  narrow: {
    seeds: [
      '[{"operator":"channel","operand":"core"}]',
      '[["is","unread"],["dm",[1,2]]]',
      '[{"operator":"search","operand":"a","negated":true}]',
      '[{"operator":"dm","operand":"a@b.c,d@e.f"}]',
      '{"a":1}',
      '[["near","5"],["sender","7"],["has","link"]]',
    ],
    limitMs: 500,
    run: (text) => void parseNarrow(JSON.parse(text)),
  },
  search: {
    seeds: ['a b', '"a b" c', 'a | !b & (c)', "a:* <-> b'"],
    limitMs: 500,
    run: (text) => void termsOf(text),
  },
  form: {
    seeds: ['a=1&b=2', 'a=%C3%BC&b=+', 'a&&=&b=%zz', '__proto__=1&a=%ff'],
    limitMs: 500,
    run(text) {
      for (const value of Object.values(queryFieldsOf(`/?${text}`)))
        must(value.isWellFormed(), 'half a surrogate pair');
      decodeText(text);
    },
  },
  parameters: {
    seeds: [
      '0 [1,2]',
      '5 {"a":[]}',
      '9 "x"',
      '20 {"direct_members":[1],"direct_subgroups":[]}',
      '41 [{"id":1,"value":"x"}]',
      '60 [[[[]]]]',
    ],
    limitMs: 500,
    run(text) {
      const [, index = '0', value = ''] = /^(\d{0,3}) ?([\s\S]*)$/.exec(text) ?? [];
      const operation = take[Number(index) % take.length];
      if (!operation) return;
      for (const name of Object.keys(operation.params)) {
        const others = Object.fromEntries(Object.keys(operation.params).map((other) => [other, '1']));
        parseParams(operation, { ...others, [name]: value }, {});
      }
    },
  },
  router: {
    seeds: [
      '/api/v1/users/me',
      '/api/v1/users/5',
      '/api/v1/streams/%31/members',
      '/user_uploads/1/a/b/c.png',
      '/static/natter-icon.svg',
      '/api/v1/x/%ff',
    ],
    limitMs: 500,
    run(text) {
      for (const method of ['GET', 'POST', 'PATCH', 'DELETE']) router.find(text)?.operation(method);
    },
  },
};
