/** Pages that came by HTTP from another machine have no clipboard of their own. */
export async function copy(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const focused = document.activeElement;
  const box = document.createElement('textarea');
  box.value = text;
  // Nothing outside of an open dialog can be selected.
  (focused?.closest('dialog') ?? document.body).append(box);
  box.select();
  document.execCommand('copy');
  box.remove();
  if (focused instanceof HTMLElement) focused.focus();
}

/** Saves a text as a file of the person. Browsers would add an ending to the name of a plain text. */
export function download(name: string, text: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type: 'application/octet-stream' }));
  link.download = name;
  link.click();
  // The browser reads the text after the click.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
