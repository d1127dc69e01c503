import type { Language } from '@natter/contracts';
import type { Mail } from './mail.ts';

type Values = Record<string, string>;
interface Template {
  subject: string;
  text: string;
}
type Templates = Record<Exclude<Language, 'es' | 'ja'>, Template>;

/** `{name}` is replaced by a value; English for a language without a translation. */
const mail =
  (templates: Templates) =>
  (language: string, values: Values): Mail => {
    const all: Readonly<Record<string, Template>> = templates;
    const { subject, text } = (Object.hasOwn(all, language) ? all[language] : undefined) ?? templates.en;
    const shown = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, shownAs(name, value)]));
    return { subject: oneLine(filled(subject, shown)), text: filled(text, shown) };
  };

/** Names and comments are user content: mail clients must not turn them into links. */
const shownAs = (name: string, value: string): string =>
  name === 'link' || name === 'email'
    ? value
    : value
        .replace(name === 'comment' ? /[^\P{C}\n]/gu : /\p{C}/gu, ' ')
        .replaceAll('://', ': //')
        .replace(/(?<=[\p{L}\p{N}_-])\.(?=[\p{L}\p{N}])/gu, '. ');

const filled = (template: string, values: Values): string =>
  template.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '');
/** User content must not inject a header. */
const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();

export const confirmEmailMail = mail({
  en: {
    subject: 'Confirm your new address for {realm}',
    text: 'Hello,\n\nopen this link to use this address for your account in {realm}:\n\n{link}\n\nThe link works for 24 hours. If you did not ask for this, ignore this mail: nothing changes.\n',
  },
  de: {
    subject: 'Bestätige deine neue Adresse für {realm}',
    text: 'Hallo,\n\nöffne diesen Link, um diese Adresse für dein Konto in {realm} zu verwenden:\n\n{link}\n\nDer Link gilt 24 Stunden. Wenn du das nicht warst, ignoriere diese Mail: Es ändert sich nichts.\n',
  },
  fr: {
    subject: 'Confirmez votre nouvelle adresse pour {realm}',
    text: "Bonjour,\n\nouvrez ce lien pour utiliser cette adresse avec votre compte dans {realm} :\n\n{link}\n\nLe lien est valable 24 heures. Si ce n'était pas vous, ignorez ce message : rien ne change.\n",
  },
});

export const addressChangedMail = mail({
  en: {
    subject: 'Your address for {realm} was changed',
    text: 'Hello,\n\nyour account in {realm} now has the address {email}. Mails about it no longer come here.\n\nIf you did not want this, tell an administrator of the organization.\n',
  },
  de: {
    subject: 'Deine Adresse für {realm} wurde geändert',
    text: 'Hallo,\n\ndein Konto in {realm} hat jetzt die Adresse {email}. Mails dazu kommen nicht mehr hierher.\n\nWenn du das nicht wolltest, melde dich bei der Administration der Organisation.\n',
  },
  fr: {
    subject: 'Votre adresse pour {realm} a été modifiée',
    text: "Bonjour,\n\nvotre compte dans {realm} a maintenant l'adresse {email}. Les messages à son sujet n'arrivent plus ici.\n\nSi vous ne l'avez pas voulu, prévenez un administrateur de l'organisation.\n",
  },
});

export const forgottenPasswordMail = mail({
  en: {
    subject: 'A new password for {realm}',
    text: 'Hello,\n\nopen this link to set a new password for your account in {realm}:\n\n{link}\n\nThe link works once, for 24 hours. If you did not ask for this, ignore this mail.\n',
  },
  de: {
    subject: 'Ein neues Passwort für {realm}',
    text: 'Hallo,\n\nöffne diesen Link, um ein neues Passwort für dein Konto in {realm} zu setzen:\n\n{link}\n\nDer Link gilt einmal, 24 Stunden lang. Wenn du das nicht warst, ignoriere diese Mail.\n',
  },
  fr: {
    subject: 'Un nouveau mot de passe pour {realm}',
    text: "Bonjour,\n\nouvrez ce lien pour choisir un nouveau mot de passe pour votre compte dans {realm} :\n\n{link}\n\nLe lien sert une fois, pendant 24 heures. Si ce n'était pas vous, ignorez ce message.\n",
  },
});

export const newLoginMail = mail({
  en: {
    subject: 'New login to {realm}',
    text: 'Hello,\n\nsomebody just logged in to your account in {realm} with {client}.\n\nIf this was not you, change your password and end your API keys.\n',
  },
  de: {
    subject: 'Neue Anmeldung bei {realm}',
    text: 'Hallo,\n\ngerade hat sich jemand mit {client} bei deinem Konto in {realm} angemeldet.\n\nWenn du das nicht warst, ändere dein Passwort und beende deine API-Schlüssel.\n',
  },
  fr: {
    subject: 'Nouvelle connexion à {realm}',
    text: "Bonjour,\n\nquelqu'un vient de se connecter à votre compte dans {realm} avec {client}.\n\nSi ce n'était pas vous, changez votre mot de passe et révoquez vos clés d'API.\n",
  },
});

export const invitationMail = mail({
  en: {
    subject: 'You are invited to {realm}',
    text: 'Hello,\n\nyou are invited to join {realm}. Open this link to make your account:\n\n{link}\n',
  },
  de: {
    subject: 'Du bist zu {realm} eingeladen',
    text: 'Hallo,\n\ndu bist zu {realm} eingeladen. Öffne diesen Link, um dein Konto anzulegen:\n\n{link}\n',
  },
  fr: {
    subject: 'Vous êtes invité à rejoindre {realm}',
    text: 'Bonjour,\n\nvous êtes invité à rejoindre {realm}. Ouvrez ce lien pour créer votre compte :\n\n{link}\n',
  },
});

export const accountExistsMail = mail({
  en: {
    subject: 'You have an account in {realm}',
    text: 'Hello,\n\nsomebody asked to join {realm} with this address, which has an account. Log in, or set a password:\n\n{link}\n',
  },
  de: {
    subject: 'Du hast ein Konto in {realm}',
    text: 'Hallo,\n\njemand wollte {realm} mit dieser Adresse beitreten, die ein Konto hat. Melde dich an, oder setze ein Passwort:\n\n{link}\n',
  },
  fr: {
    subject: 'Vous avez un compte dans {realm}',
    text: "Bonjour,\n\nquelqu'un a demandé à rejoindre {realm} avec cette adresse, qui a un compte. Connectez-vous, ou choisissez un mot de passe :\n\n{link}\n",
  },
});

export const deactivatedMail = mail({
  en: {
    subject: 'Your account in {realm} is deactivated',
    text: 'Hello,\n\nyour account in {realm} was deactivated: you can no longer log in.\n\n{comment}\n',
  },
  de: {
    subject: 'Dein Konto in {realm} ist deaktiviert',
    text: 'Hallo,\n\ndein Konto in {realm} wurde deaktiviert: Du kannst dich nicht mehr anmelden.\n\n{comment}\n',
  },
  fr: {
    subject: 'Votre compte dans {realm} est désactivé',
    text: 'Bonjour,\n\nvotre compte dans {realm} a été désactivé : vous ne pouvez plus vous connecter.\n\n{comment}\n',
  },
});
