/** Mentions of people and groups, channels and topics, and times. */
const p = (inner: string): string => `<p>${inner}</p>`;
const ann = '<span class="user-mention" data-user-id="7">@Ann Lee</span>';
const silentAnn = '<span class="user-mention silent" data-user-id="7">Ann Lee</span>';
const gone = '<span class="user-mention silent" data-user-id="12">Gone Person</span>';
const channel = '<a class="stream" data-stream-id="6" href="/#narrow/channel/6-core">#core</a>';
const time = (instant: string, source: string): string => p(`<time datetime="${instant}">${source}</time>`);

export const peopleCases: [string, string][] = [
  ['@**ann lee**', p(ann)],
  ['@**ANN LEE**', p(ann)],
  ['@**ann lee|7**', p('@<strong>ann lee|7</strong>')],
  ['@**|99**', p('@<strong>|99</strong>')],
  ['@**Ann Lee**.', p(`${ann}.`)],
  ['"@**Ann Lee**"', p(`&quot;${ann}&quot;`)],
  ['[@**Ann Lee**]', p(`[${ann}]`)],
  ['{@**Ann Lee**}', p(`{${ann}}`)],
  ['/@**Ann Lee**', p(`/${ann}`)],
  ['@**Ann Lee** @**Ann Lee**', p(`${ann} ${ann}`)],
  ['*@**Ann Lee***', p('<em>@<strong>Ann Lee</strong></em>')],
  ['# @**Ann Lee**', `<h1>${ann}</h1>`],
  ['@__Ann Lee__', p('@__Ann Lee__')],
  ['@**Gone Person**', p(gone)],
  ['@_**Gone Person**', p(gone)],
  ['@**Gone Person|12**', p(gone)],
  ['@*old crew*', p('<span class="user-group-mention silent" data-user-group-id="11">old crew</span>')],
  ['@_*old crew*', p('<span class="user-group-mention silent" data-user-group-id="11">old crew</span>')],
  ['@*DEV*', p('<span class="user-group-mention" data-user-group-id="3">@dev</span>')],
  ['@*role:members*', p('<span class="user-group-mention" data-user-group-id="4">@Members</span>')],
  ['@_*role:members*', p('<span class="user-group-mention silent" data-user-group-id="4">Members</span>')],
  ['x@*dev*', p('x@<em>dev</em>')],
  ['@*dev*s', p('<span class="user-group-mention" data-user-group-id="3">@dev</span>s')],
  ['@**All**', p('@<strong>All</strong>')],
  ['@_**everyone**', p('<span class="user-mention channel-wildcard-mention silent" data-user-id="*">everyone</span>')],
  ['> a @**Ann Lee**', `<blockquote>\n<p>a ${silentAnn}</p>\n</blockquote>`],
  [
    '> @**all**',
    '<blockquote>\n<p><span class="user-mention channel-wildcard-mention silent" data-user-id="*">all</span></p>\n</blockquote>',
  ],
  ['> a\n@**Ann Lee**', `<blockquote>\n<p>a<br>\n${silentAnn}</p>\n</blockquote>`],
  ['#**core**', p(channel)],
  ['#**core** #**core**', p(`${channel} ${channel}`)],
  ['#**Core**', p('#<strong>Core</strong>')],
  ['[#**core**]', p(`[${channel}]`)],
  ['#** core**', p('#<strong> core</strong>')],
  ['#core', p('#core')],
  [
    '#**core>lunch**',
    p(
      '<a class="stream-topic" data-stream-id="6" href="/#narrow/channel/6-core/topic/lunch/with/42">#core &gt; lunch</a>',
    ),
  ],
  [
    '#**core>LUNCH**',
    p(
      '<a class="stream-topic" data-stream-id="6" href="/#narrow/channel/6-core/topic/LUNCH/with/42">#core &gt; LUNCH</a>',
    ),
  ],
  [
    '#**my team>lunch**',
    p(
      '<a class="stream-topic" data-stream-id="5" href="/#narrow/channel/5-my-team/topic/lunch">#my team &gt; lunch</a>',
    ),
  ],
  [
    '#**core>a>b**',
    p('<a class="stream-topic" data-stream-id="6" href="/#narrow/channel/6-core/topic/a.3Eb">#core &gt; a&gt;b</a>'),
  ],
  [
    "#**core>it's (ok)**",
    p(
      '<a class="stream-topic" data-stream-id="6" href="/#narrow/channel/6-core/topic/it.27s.20.28ok.29">#core &gt; it\'s (ok)</a>',
    ),
  ],
  [
    '#**core>@7**',
    p('<a class="message-link" href="/#narrow/channel/6-core/topic//near/7">#core &gt; <em>general chat</em> @ 💬</a>'),
  ],
  [
    '#**core>a@b@7**',
    p('<a class="message-link" href="/#narrow/channel/6-core/topic/a.40b/near/7">#core &gt; a@b @ 💬</a>'),
  ],
  ['<time:2024-02-29T12:00:00Z>', time('2024-02-29T12:00:00Z', '2024-02-29T12:00:00Z')],
  ['<time:2024-02-29T12:00:00-05:00>', time('2024-02-29T17:00:00Z', '2024-02-29T12:00:00-05:00')],
  ['<time:2024-02-29 12:00 EST>', time('2024-02-29T17:00:00Z', '2024-02-29 12:00 EST')],
  ['<time:2024-02-29 12:00 PDT>', time('2024-02-29T19:00:00Z', '2024-02-29 12:00 PDT')],
  ['<time:2024-02-29 12:00 CET>', time('2024-02-29T11:00:00Z', '2024-02-29 12:00 CET')],
  ['<time:2024-02-29 12:00 IST>', time('2024-02-29T06:30:00Z', '2024-02-29 12:00 IST')],
  ['<time:2024-02-29 12:00 JST>', time('2024-02-29T03:00:00Z', '2024-02-29 12:00 JST')],
  ['<time:2024-02-29 12:00 UTC>', time('2024-02-29T12:00:00Z', '2024-02-29 12:00 UTC')],
  ['<time:2024-02-29 12:00 +0530>', time('2024-02-29T06:30:00Z', '2024-02-29 12:00 +0530')],
  ['<time:2024/02/29 12:00>', time('2024-02-29T12:00:00Z', '2024/02/29 12:00')],
  ['<time:02/29/2024 12:00>', time('2024-02-29T12:00:00Z', '02/29/2024 12:00')],
  ['<time:20240229T120000Z>', time('2024-02-29T12:00:00Z', '20240229T120000Z')],
  ['<time:Feb 29 2024, 12:00 PM EST>', time('2024-02-29T17:00:00Z', 'Feb 29 2024, 12:00 PM EST')],
  ['<time:29 February 2024 12:00 AM>', time('2024-02-29T00:00:00Z', '29 February 2024 12:00 AM')],
  ['<time:Feb 29 2024, 10:30PM, EST>', time('2024-03-01T03:30:00Z', 'Feb 29 2024, 10:30PM, EST')],
  ['<time:10:30PM Feb 29 2024>', time('2024-02-29T22:30:00Z', '10:30PM Feb 29 2024')],
  ['<time:22:30, 2024-02-29>', time('2024-02-29T22:30:00Z', '22:30, 2024-02-29')],
  ['<time:Thu, 29 Feb 2024 22:30:00 GMT>', time('2024-02-29T22:30:00Z', 'Thu, 29 Feb 2024 22:30:00 GMT')],
  ['<time:2023-02-29>', p('<span class="timestamp-error">Invalid time format: 2023-02-29</span>')],
  ['<time:soon>', p('<span class="timestamp-error">Invalid time format: soon</span>')],
  ['<time:<b>>', p('<span class="timestamp-error">Invalid time format: &lt;b</span>&gt;')],
  ['<time:1', p('&lt;time:1')],
  ['**<time:1>**', p('<strong><time datetime="1970-01-01T00:00:01Z">1</time></strong>')],
];
