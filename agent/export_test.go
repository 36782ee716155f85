package agent

type ArgumentsError = argumentsError

var Threshold = threshold
