import type { Texts } from '../form/texts.ts';

export const bots = {
  formOfTheCalls: 'Form der Aufrufe',
  interfaceGeneric: 'JSON mit der ganzen Nachricht',
  interfaceSlack: 'Formular, wie für Slack',
  pictureOfTheBot: 'Bild des Bots',
  channelForItsMessages: 'Kanal für seine Nachrichten',
  itNamesAChannelItself: 'Er nennt selbst einen Kanal',
  channelWhoseEventsItGets: 'Kanal, dessen Ereignisse er erhält',
  allThatItSubscribesTo: 'Alle, die er abonniert',
  itGetsMessagesOfAllPublicChannels: 'Er erhält die Nachrichten aller öffentlichen Kanäle',
  ownerOfTheBot: 'Besitzer des Bots',
  anotherOwnerGetsANewKey: 'Mit einem anderen Besitzer erhält der Bot einen neuen Schlüssel.',
  anotherOwnerEntersTheAddress:
    'Mit einem anderen Besitzer hat der Bot keine Adresse, bis der neue Besitzer eine einträgt.',
  theAddressIsMissing: 'Der Bot erhält keine Nachrichten: Die Adresse, die aufgerufen wird, fehlt.',
  tokenOfTheCalls: 'Token der Aufrufe',
  saveTheBot: 'Bot speichern',
  copyTheKey: 'Schlüssel kopieren',
  copyKeyOf: 'Schlüssel von {name} kopieren',
  copied: 'Kopiert.',
  downloadZuliprc: 'zuliprc herunterladen',
  downloadZuliprcOf: 'zuliprc von {name} herunterladen',
  deactivatedBots: 'Deaktivierte Bots',
  findBots: 'Bots suchen',
  thereAreNoSuchBots: 'Es gibt keine solchen Bots.',
} as const satisfies Texts<'one' | 'other'>;
