import { afterEach, expect, test } from 'vitest';
import { closeAfter, closeDialog, isDialogOpen, openDialog } from './open-dialog.ts';

afterEach(closeDialog);

test('a dialog closes after its work, unless the work fails', async () => {
  openDialog({ name: 'delete', messageId: 1 });
  await expect(closeAfter(() => Promise.reject(new Error('refused')))).rejects.toThrow('refused');
  expect(isDialogOpen()).toBe(true);
  expect(await closeAfter(async () => 'done')).toBe('done');
  expect(isDialogOpen()).toBe(false);
});

test('a dialog that was opened during the work of another one stays open', async () => {
  openDialog({ name: 'delete', messageId: 1 });
  const outcome = await closeAfter(async () => {
    closeDialog();
    openDialog({ name: 'delete', messageId: 1 });
    return 'done';
  });
  expect(outcome).toBe(undefined);
  expect(isDialogOpen()).toBe(true);
});
