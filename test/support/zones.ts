/** Zones whose days are odd: skipped or repeated hours, at midnight too, a skipped day, an offset of 45 minutes. */
export const zones = [
  'America/New_York',
  'Europe/Berlin',
  'America/Havana',
  'America/Sao_Paulo',
  'America/St_Johns',
  'Pacific/Apia',
  'Asia/Kathmandu',
  'UTC',
  'Africa/Cairo',
  'Australia/Lord_Howe',
  'Africa/Casablanca',
  'America/Caracas',
] as const;

/** A range around an odd day of each zone. */
export const oddRanges = [
  { timeZone: 'America/New_York', from: '2024-03-09', to: '2024-03-11' },
  { timeZone: 'America/New_York', from: '2024-11-01', to: '2024-11-05' },
  { timeZone: 'Europe/Berlin', from: '2024-03-30', to: '2024-04-01' },
  { timeZone: 'America/Havana', from: '2024-03-09', to: '2024-03-11' },
  { timeZone: 'America/Havana', from: '2024-11-02', to: '2024-11-04' },
  { timeZone: 'America/Sao_Paulo', from: '2018-11-03', to: '2018-11-05' },
  { timeZone: 'America/St_Johns', from: '2010-11-06', to: '2010-11-08' },
  { timeZone: 'Pacific/Apia', from: '2011-12-29', to: '2011-12-31' },
  { timeZone: 'Asia/Kathmandu', from: '1985-12-31', to: '1986-01-02' },
  { timeZone: 'UTC', from: '2024-02-27', to: '2024-03-01' },
  { timeZone: 'Africa/Cairo', from: '2024-04-25', to: '2024-04-27' },
  { timeZone: 'Africa/Cairo', from: '2024-10-30', to: '2024-11-01' },
] as const;
