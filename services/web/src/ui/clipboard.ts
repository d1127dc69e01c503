/** Pages that came by HTTP from another machine have no clipboard of their own. */
export async function copy(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const focused = document.activeElement;
  const box = document.createElement('textarea');
  box.value = text;
  // The box is added to the open dialog, if there is one, because text outside of it cannot be selected.
  (focused?.closest('dialog') ?? document.body).append(box);
  box.select();
  document.execCommand('copy');
  box.remove();
  if (focused instanceof HTMLElement) focused.focus();
}
