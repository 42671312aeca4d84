package commit

// StopWorker ends the worker of a pipeline that is used on, so that nothing is tried but by who calls RetryDue.
func (p *Pipeline) StopWorker() { <-p.worker.stop() }
