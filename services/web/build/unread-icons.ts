import type { Plugin } from 'vite';

const labels = {
  ...Object.fromEntries(Array.from({ length: 9 }, (_, index) => [index + 1, `${index + 1}`])),
  more: '9+',
};

/** An icon of the page for each number of unread messages: its policy permits no pictures that it draws itself. */
export const unreadIcons: Plugin = {
  name: 'icons with numbers',
  generateBundle() {
    for (const [name, label] of Object.entries(labels))
      this.emitFile({ type: 'asset', fileName: `assets/unread-${name}.svg`, source: iconWith(label) });
  },
};

function iconWith(label: string): string {
  const [size, base] = label.length > 1 ? [13, 26] : [17, 27];
  const look = `fill="#fff" font-family="sans-serif" font-size="${size}" font-weight="700" text-anchor="middle"`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><title>Natter, ${label} unread</title>`,
    '<rect width="32" height="32" rx="8" fill="#3d56c5"/>',
    '<path d="M7 9a3 3 0 0 1 3-3h12a3 3 0 0 1 3 3v9a3 3 0 0 1-3 3h-7l-6 5v-5a2 2 0 0 1-2-2z" fill="#fff"/>',
    `<circle cx="21" cy="21" r="11" fill="#c3271e"/><text x="21" y="${base}" ${look}>${label}</text></svg>`,
  ].join('');
}
