/** Images and videos that are linked, shown below the text or instead of it. */
const link = (url: string, shown = url): string => `<a href="${url}">${shown}</a>`;
const image = (url: string, title = ''): string =>
  `<div class="message_inline_image"><a href="${url}"${title === '' ? '' : ` title="${title}"`}><img src="${url}"></a></div>`;
const film = (url: string, id: string): string =>
  `<div class="youtube-video message_inline_image"><a data-id="${id}" href="${url}"><img src="https://i.ytimg.com/vi/${id}/mqdefault.jpg"></a></div>`;
const youtube = (url: string, id: string): string => `<p>${link(url)}</p>\n${film(url, id)}`;
const [tube, tube2] = ['https://youtu.be/aa-bb', 'https://youtu.be/cc-dd'];
const [a, b, c] = ['https://a.test/a.png', 'https://a.test/b.jpg', 'https://a.test/c.gif'];
const blob = 'https://github.com/o/r/blob/main/d/e.png';
const fromPage = `<div class="message_inline_image"><a href="${blob}"><img src="https://raw.githubusercontent.com/o/r/main/d/e.png"></a></div>`;

export const previewCases: [string, string][] = [
  [a, image(a)],
  [`x ${a}`, `<p>x ${link(a)}</p>\n${image(a)}`],
  [`${a} x`, `<p>${link(a)} x</p>\n${image(a)}`],
  [`${a} ${b}`, `<p>${link(a)} ${link(b)}</p>\n${image(a)}${image(b)}`],
  [`${a} ${a}`, `<p>${link(a)} ${link(a)}</p>\n${image(a)}`],
  [`${a}\n\n${a}`, `${image(a)}<p>${link(a)}</p>`],
  [`${a}\n\n${b}`, image(a) + image(b)],
  [`x ${a}\n\ny`, `<p>x ${link(a)}</p>\n${image(a)}<p>y</p>`],
  [`x ${a}\n\ny ${b}\n\n${c}`, `<p>x ${link(a)}</p>\n${image(a)}<p>y ${link(b)}</p>\n${image(b)}${image(c)}`],
  [`[x](${a})`, `<p>${link(a, 'x')}</p>\n${image(a, 'x')}`],
  [`[](${a})`, image(a)],
  [`- ${a}`, `<ul>\n<li>${image(a)}</li>\n</ul>`],
  [`- x ${a}`, `<ul>\n<li>x ${link(a)}${image(a)}</li>\n</ul>`],
  [`# ${a}`, `<h1>${link(a)}</h1>\n${image(a)}`],
  [`> ${a}`, `<blockquote>\n<p>${link(a)}</p>\n</blockquote>`],
  [`> ${a}\n\n${a}`, `<blockquote>\n<p>${link(a)}</p>\n</blockquote>\n${image(a)}`],
  ['https://a.test/a.png?x=1', image('https://a.test/a.png?x=1')],
  ['https://a.test/a.svg', `<p>${link('https://a.test/a.svg')}</p>`],
  ['https://a.test/png', `<p>${link('https://a.test/png')}</p>`],
  [blob, fromPage],
  [`x ${blob}`, `<p>x ${link(blob)}</p>\n${fromPage}`],
  ['https://linx.li/x.png', image('https://linx.li/s/x.png')],
  ['https://www.dropbox.com/s/ab/x.png', image('https://www.dropbox.com/s/ab/x.png?raw=1')],
  ['https://www.dropbox.com/s/ab/x.png?dl=0', image('https://www.dropbox.com/s/ab/x.png?dl=0&amp;raw=1')],
  ['https://dropbox.com/scl/fi/ab/x.gif?k=v', image('https://dropbox.com/scl/fi/ab/x.gif?k=v&amp;raw=1')],
  [
    'https://www.dropbox.com/scl/fi/ab/y.webm?k=v',
    '<div class="message_inline_image message_inline_video"><a href="https://www.dropbox.com/scl/fi/ab/y.webm?k=v&amp;raw=1"><video preload="metadata" src="https://www.dropbox.com/scl/fi/ab/y.webm?k=v&amp;raw=1"></video></a></div>',
  ],
  ['https://notdropbox.com/scl/fi/ab/x.gif', image('https://notdropbox.com/scl/fi/ab/x.gif')],
  ['https://www.dropbox.com/help/x.png', image('https://www.dropbox.com/help/x.png')],
  ['https://pasteboard.co/x.png', `<p>${link('https://pasteboard.co/x.png')}</p>`],
  ['https://a.test/v.mov', `<p>${link('https://a.test/v.mov')}</p>`],
  [`- ${a}\n  - b`, `<ul>\n<li><ul>\n<li>b</li>\n</ul>\n${image(a)}</li>\n</ul>`],
  [`- ${a} x`, `<ul>\n<li>${link(a)} x${image(a)}</li>\n</ul>`],
  [
    `- ${tube}\n\n${tube2}`,
    `<ul>\n<li>${link(tube)}${film(tube, 'aa-bb')}</li>\n</ul>\n<p>${link(tube2)}</p>\n${film(tube2, 'cc-dd')}`,
  ],
  [
    `${tube}\n\nx\n\n${tube2} y`,
    `<p>${link(tube)}</p>\n${film(tube, 'aa-bb')}<p>x</p>\n<p>${link(tube2)} y</p>\n${film(tube2, 'cc-dd')}`,
  ],
  [`${tube} ${a}`, `<p>${link(tube)} ${link(a)}</p>\n${film(tube, 'aa-bb')}${image(a)}`],
  [`# ${tube}\n\nx`, `<h1>${link(tube)}</h1>\n<p>x</p>\n${film(tube, 'aa-bb')}`],
  [
    `\`\`\`spoiler x\n${tube}\n\`\`\``,
    `<div class="spoiler-block"><div class="spoiler-header">\n<p>x</p>\n</div><div class="spoiler-content" aria-hidden="true">\n<p>${link(tube)}</p>\n${film(tube, 'aa-bb')}</div></div>`,
  ],
  ['https://en.wikipedia.org/wiki/File:A.jpg', image('https://en.wikipedia.org/wiki/Special:FilePath/File:A.jpg')],
  [
    'https://a.test/v.mp4',
    '<div class="message_inline_image message_inline_video"><a href="https://a.test/v.mp4"><video preload="metadata" src="https://a.test/v.mp4"></video></a></div>',
  ],
  ['https://www.youtube.com/watch?v=hx1mjT73', youtube('https://www.youtube.com/watch?v=hx1mjT73', 'hx1mjT73')],
  ['https://youtu.be/ab-cd_ef123', youtube('https://youtu.be/ab-cd_ef123', 'ab-cd_ef123')],
  ['https://www.youtube.com/embed/ab-cd_ef123', youtube('https://www.youtube.com/embed/ab-cd_ef123', 'ab-cd_ef123')],
  ['https://www.youtube.com/shorts/ab-cd_ef123', youtube('https://www.youtube.com/shorts/ab-cd_ef123', 'ab-cd_ef123')],
  [
    'https://www.youtube.com/watch?t=5&v=ab-cd_ef123',
    youtube('https://www.youtube.com/watch?t=5&amp;v=ab-cd_ef123', 'ab-cd_ef123'),
  ],
  ['https://www.youtube.com/playlist?list=PL1', `<p>${link('https://www.youtube.com/playlist?list=PL1')}</p>`],
  ['https://notyoutube.com/watch?v=ab-cd_ef123', `<p>${link('https://notyoutube.com/watch?v=ab-cd_ef123')}</p>`],
];
