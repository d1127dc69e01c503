/** Saves a text as a file of the person. Browsers would add an ending to the name of a plain text. */
export function download(name: string, text: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type: 'application/octet-stream' }));
  link.download = name;
  link.click();
  // The browser reads the text after the click.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
