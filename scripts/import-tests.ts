/**
 * Loads the test files that `TEST_FILES` names, so that they run in this process. They are not passed as arguments, because tap names
 * temporary folders after the arguments.
 */
for (const file of JSON.parse(process.env['TEST_FILES'] ?? '[]') as string[]) await import(file)
