import type { Texts } from '../form/texts.ts';

export const bots = {
  formOfTheCalls: 'Formato de las llamadas',
  interfaceGeneric: 'JSON con el mensaje completo',
  interfaceSlack: 'Formulario, como para Slack',
  pictureOfTheBot: 'Imagen del bot',
  channelForItsMessages: 'Canal para sus mensajes',
  itNamesAChannelItself: 'Él mismo indica un canal',
  channelWhoseEventsItGets: 'Canal cuyos eventos recibe',
  allThatItSubscribesTo: 'Todos a los que está suscrito',
  itGetsMessagesOfAllPublicChannels: 'Recibe los mensajes de todos los canales públicos',
  ownerOfTheBot: 'Propietario del bot',
  anotherOwnerGetsANewKey: 'Con otro propietario, el bot recibe una clave nueva.',
  anotherOwnerEntersTheAddress:
    'Con otro propietario, el bot no tiene dirección hasta que ese propietario introduzca una.',
  theAddressIsMissing: 'Este bot no recibe mensajes: falta la dirección a la que se llama.',
  tokenOfTheCalls: 'Token de las llamadas',
  saveTheBot: 'Guardar el bot',
  copyTheKey: 'Copiar la clave',
  copyKeyOf: 'Copiar la clave de {name}',
  copied: 'Copiado.',
  downloadZuliprc: 'Descargar zuliprc',
  downloadZuliprcOf: 'Descargar zuliprc de {name}',
  deactivatedBots: 'Bots desactivados',
  findBots: 'Buscar bots',
  thereAreNoSuchBots: 'No hay bots así.',
} as const satisfies Texts<'one' | 'many' | 'other'>;
