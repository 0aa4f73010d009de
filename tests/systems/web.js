// A program of tests in node sees the environment of the shell that started it.
Module.preRun = () => Object.assign(ENV, process.env);
