/**
 * Further targets: functions that read bytes, headers and names of requests. A character stands for one byte where bytes are
 * read.
 */

import { checkedChannelName } from '@natter/contracts';
import { mediaAt } from '../../../libs/markdown/src/media-url.ts';
import { findEmoji } from '../../../libs/markdown/src/unicode-emoji.ts';
import { safeUrl } from '../../../libs/markdown/src/url.ts';
import { rangeOf } from '../../../services/gateway/src/http/files.ts';
import { networkOf } from '../../../services/gateway/src/http/network.ts';
import { parseMultipart } from '../../../services/gateway/src/http/request-fields.ts';
import { servedAs, typeOf } from '../../../services/messaging/src/attachments/served-as.ts';
import { describedBy } from '../../../services/messaging/src/attachments/tus-metadata.ts';
import { mediaTypeOf } from '../../../services/messaging/src/external-content/media-type.ts';
import { maxDescriptionLength, previewOf } from '../../../services/messaging/src/link-previews/page-preview.ts';
import { quoteBlock } from '../../../services/messaging/src/model/notice-text.ts';
import { isPublicAddress } from '../../../services/messaging/src/model/outgoing/public-address.ts';
import { htmlDiff } from '../../../services/messaging/src/model/reading/html-diff.ts';
import { holdsPhrases, termsOf } from '../../../services/messaging/src/model/reading/narrow/search-query.ts';
import { widgetGiven, widgetOfCommand } from '../../../services/messaging/src/model/sending/widget-command.ts';
import { checkEmailForm } from '../../../services/users/src/model/change-email.ts';
import { idInEmail } from '../../../services/users/src/model/find-account.ts';
import { checkedFullName } from '../../../services/users/src/model/full-name.ts';
import { imageSize, imageTypeOf } from '../../../services/users/src/model/images/image-header.ts';
import { checkedGroupName } from '../../../services/users/src/user-groups/group-name.ts';
import type { Target } from './target.ts';

const must = (holds: boolean, what: string): void => {
  if (!holds) throw new Error(what);
};
const bytesOf = (text: string): Buffer => Buffer.from(text, 'latin1');
/** Splits a text at its first line break. */
const halves = (text: string): [string, string] => {
  const at = text.indexOf('\n');
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
};
const wellFormed = (text: string): string => Buffer.from(text, 'utf8').toString('utf8');
const refused = (check: () => unknown): void => {
  try {
    check();
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'ChatError') throw error;
  }
};

const part = 'Content-Disposition: form-data; name="a"';

export const requestTargets: Record<string, Target> = {
  page: {
    seeds: [
      '<!doctype html><head><meta property="og:image" content="/i"><title>A &amp; b</title><meta property="og:title" content="C">',
      "<meta name=og:image content=/i><meta name=description content='x &lt;'/><script><title></title></script><!-- --><title>\n</title",
    ],
    limitMs: 200,
    run(text) {
      const { title = '', description = '' } = previewOf(text, 'https://site.example/') ?? {};
      for (const shown of [title, description]) {
        must([...shown].length <= maxDescriptionLength, 'a text is too long');
        must(shown.isWellFormed() && !/\p{Cc}/u.test(shown), 'a text holds characters that are not shown');
      }
    },
  },
  multipart: {
    seeds: [
      `multipart/form-data; boundary=b\n--b\r\n${part}\r\n\r\n1\r\n--b--\r\n`,
      `multipart/form-data; boundary="b c"\n--b c\r\n${part}; filename="x.txt"\r\nContent-Type: text/plain\r\n\r\nhi\r\n--b c--`,
      `multipart/form-data; boundary=b\n--b\r\n${part}; filename*=utf-8''%c3%bc\r\n\r\n\r\n--b\r\n${part}\r\n\r\nx`,
    ],
    limitMs: 500,
    async run(text) {
      const [contentType, rest] = halves(text);
      const body = bytesOf(rest);
      const { files } = await parseMultipart(contentType, body);
      const size = files.reduce((sum, { bytes }) => sum + bytes.length, 0);
      must(size <= body.length, 'files are larger than their body');
    },
  },
  image: {
    seeds: [
      '\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\0\x10\0\0\0\x10\x08\x06\0\0\0',
      'GIF89a\x10\0\x10\0\x80\0\0\0\0\0\xff\xff\xff!\xf9\x04\0\0\0\0\0,\0\0\0\0\x10\0\x10\0\0\x02\x01D\0;',
      '\xff\xd8\xff\xe0\0\x10JFIF\0\x01\x01\0\0\x01\0\x01\0\0\xff\xc0\0\x11\x08\0\x10\0\x10\x03\x01',
      'RIFF\x24\0\0\0WEBPVP8X\x0a\0\0\0\x02\0\0\0\x0f\0\0\x0f\0\0',
      'RIFF\x24\0\0\0WEBPVP8L\x0a\0\0\0\x2f\x0f\xc0\x03\0\0',
      'RIFF\x24\0\0\0WEBPVP8 \x0a\0\0\0\0\0\0\x9d\x01\x2a\x10\0\x10\0',
    ],
    limitMs: 500,
    run(text) {
      const bytes = bytesOf(text);
      const type = imageTypeOf(bytes);
      const size = type && imageSize(bytes, type);
      if (size)
        must(
          [size.width, size.height, size.frames].every((value) => Number.isSafeInteger(value) && value >= 0),
          'a size that is no whole number',
        );
    },
  },
  'tus-metadata': {
    seeds: ['filename YS50eHQ=,filetype dGV4dC9wbGFpbg==', 'a', 'a ,b YQ', 'filename Li4='],
    limitMs: 500,
    run(text) {
      const { name, contentType } = describedBy(text);
      must(name.length <= 255 && contentType.length <= 255 && name !== '..', 'a name that no file may have');
    },
  },
  'media-type': {
    seeds: [
      'image/png\n\x89PNG\r\n\x1a\n',
      'video/mp4; a=b\n....ftypisom',
      'text/html\n<svg>',
      'a.tar.gz\nx',
      'audio/ogg\nOggS',
    ],
    limitMs: 500,
    run(text) {
      const [stated, rest] = halves(wellFormed(text));
      const found = mediaTypeOf(bytesOf(rest), stated);
      must(found === undefined || /^(?:image|video|audio)\/[a-z0-9-]+$/.test(found), 'a type that is no media');
      const { content_type, disposition = '' } = servedAs(typeOf(stated, rest), rest);
      must(/^[a-z]+\/[a-z0-9.+-]+(?:; charset=utf-8)?$/.test(content_type), 'a type that is no type');
      must(/^[\x20-\x7e]*$/.test(disposition), 'a header with other characters than ASCII');
      must(disposition !== '' || !/html|xml|svg|script/.test(content_type), 'a type with scripts is displayed');
    },
  },
  range: {
    seeds: ['10\nbytes=0-5', '0\nbytes=-1', '999\nbytes=5-', '5\nbytes=9-', '7\nbytes=3-1', '1\nbytes=0-0,1-2'],
    limitMs: 500,
    run(text) {
      const [given, header] = halves(text);
      // Sizes of files are exact numbers.
      const size = Math.min(Math.abs(Number.parseInt(given, 10) || 0), Number.MAX_SAFE_INTEGER);
      const range = rangeOf(header, size);
      if (range === undefined || range === 'none') return;
      must(range[0] >= 0 && range[0] <= range[1] && range[1] < size, 'a range that is not within the file');
    },
  },
  address: {
    seeds: ['127.0.0.1', '::1', '::ffff:10.0.0.1', 'fe80::1%eth0', '2001:db8::', '0x7f.1', '64:ff9b::7f00:1'],
    limitMs: 500,
    run(text) {
      networkOf(text);
      if (isPublicAddress(text)) must(networkOf(text) !== 'unknown', 'a public address without a network');
    },
  },
  'html-diff': {
    seeds: [
      '<p>a b c</p>\n<p>a c d</p>',
      '<p>x</p>\n',
      '&lt;b&gt;\n&lt;i&gt;',
      '<a href="x">y</a>\n<a href="z">y</a> <',
    ],
    limitMs: 1_000,
    run(text) {
      const [before, after] = halves(text);
      const difference = htmlDiff(before, after);
      must(difference.length <= 50 * (before.length + after.length + 1), 'a difference much longer than its texts');
    },
  },
  phrases: {
    seeds: ['"a b" -c or d', 'x " y', '"%_\\"'],
    limitMs: 500,
    run(text) {
      holdsPhrases(text);
      must(new Set(termsOf(text)).size === termsOf(text).length, 'a term twice');
    },
  },
  names: {
    seeds: ['Ann Lee', 'a@b.example', 'user12@chat.example', '*x*', ' ', 'ann|7', '\u202eabc'],
    limitMs: 500,
    run(text) {
      for (const check of [checkedFullName, checkedChannelName, checkedGroupName, checkEmailForm])
        refused(() => check(text));
      must(Number.isSafeInteger(idInEmail(text)), 'an ID that is no whole number');
    },
  },
  widget: {
    seeds: [
      '/poll a\nb\n- c',
      '/todo t\nx: y',
      '{"widget_type":"zform","extra_data":{"type":"choices","heading":"h","choices":[{"type":"m","long_name":"a","reply":"b","short_name":"c"}]}}',
    ],
    limitMs: 500,
    run(text) {
      widgetOfCommand(text);
      refused(() => widgetGiven(text));
    },
  },
  link: {
    seeds: [
      'https://a.example/b.png?c#d',
      'javascript:alert(1)',
      'mailto:a@b.c',
      '/x/y.mp4',
      'java\tscript:x',
      'http://[::1]/',
    ],
    limitMs: 500,
    run(text) {
      mediaAt(text);
      findEmoji(text);
      quoteBlock(text);
      must(!/^\s*(?:javascript|data|vbscript):/i.test(safeUrl(text) ?? ''), 'a link that runs a script');
    },
  },
};
