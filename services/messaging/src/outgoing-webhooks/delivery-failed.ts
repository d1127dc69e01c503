import { type NoticeText, notice, plain } from '../model/notice-text.ts';

interface Reason {
  /** The reason that the conversation sees. */
  shown: string;
  /** The reason that the owner of the bot sees. */
  told?: NoticeText;
  /** Whether another attempt may succeed. */
  isTransient?: boolean;
}

/** A message was not posted to a bot, or the bot's reply cannot be sent. Contains neither the address nor the response. */
export class DeliveryFailed extends Error {
  readonly told: NoticeText;
  readonly isTransient: boolean;

  constructor({ shown, told = notice`The reason is: ${plain(shown)}`, isTransient = false }: Reason) {
    super(shown);
    this.told = told;
    this.isTransient = isTransient;
  }
}
