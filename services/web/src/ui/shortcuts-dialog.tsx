import { Dialog } from './dialog.tsx';
import { closeDialog } from './open-dialog.ts';

const groups: readonly { title: string; keys: readonly (readonly [keys: string, meaning: string])[] }[] = [
  {
    title: 'Go to',
    keys: [
      ['Ctrl K', 'Any conversation, person or view'],
      ['/', 'Search'],
      ['n', 'Next unread conversation'],
      ['p', 'Next unread direct messages'],
      ['I', 'Inbox'],
      ['t', 'Recent conversations'],
      ['a', 'Combined feed'],
      ['@', 'Mentions'],
      ['*', 'Starred messages'],
    ],
  },
  {
    title: 'Messages',
    keys: [
      ['j or ↓', 'Next message'],
      ['k or ↑', 'Previous message'],
      ['G or End', 'Newest message'],
      ['r or Enter', 'Reply'],
      ['>', 'Quote and reply'],
      ['e', 'Edit, if it is yours'],
      ['+', 'React with thumbs up'],
      [':', 'React with another emoji'],
      ['s', 'Star, or remove the star'],
      ['u', 'About the sender'],
      ['m', 'Move, if you may'],
      ['H', 'Edits and moves, if there are any'],
      ['U', 'Mark as unread from here'],
    ],
  },
  {
    title: 'Writing',
    keys: [
      ['Enter', 'Send'],
      ['Shift Enter', 'New line'],
      ['Esc', 'Leave the compose box'],
      ['c', 'Go to the compose box'],
      ['?', 'These shortcuts'],
    ],
  },
];

export default function ShortcutsDialog() {
  return (
    <Dialog title="Keyboard shortcuts">
      {groups.map(({ title, keys }) => (
        <section key={title}>
          <h3>{title}</h3>
          <dl className="shortcuts">
            {keys.map(([key, meaning]) => (
              <div key={key}>
                <dt>
                  <kbd>{key}</kbd>
                </dt>
                <dd>{meaning}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
      <div className="buttons">
        <button type="button" onClick={closeDialog}>
          Close
        </button>
      </div>
    </Dialog>
  );
}
